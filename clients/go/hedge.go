package seendb

import (
	"context"
	"net/http"
	"time"
)

// hedged gives what the first of two calls gives that is answered well, and how many more than one were made: the
// second begins after Options.Hedge, if the budget of second tries lets it.
func (c *Client) hedged(ctx context.Context, first, second func(context.Context) (*answer, error)) (*answer, error, int) {
	type outcome struct {
		got *answer
		err error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	told := make(chan outcome, 2)
	run := func(call func(context.Context) (*answer, error)) {
		got, err := call(ctx)
		told <- outcome{got, err}
	}
	go run(first)
	timer := time.NewTimer(c.options.Hedge)
	defer timer.Stop()
	more := 0
	var one outcome
	select {
	case one = <-told:
	case <-timer.C:
		if c.budget.second() {
			more = 1
			go run(second)
		}
		one = <-told
	}
	if well := func(o outcome) bool { return o.got != nil && o.got.status < http.StatusTooManyRequests }; more == 1 && !well(one) {
		if other := <-told; one.got == nil || well(other) {
			one = other
		}
	}
	return one.got, one.err, more
}
