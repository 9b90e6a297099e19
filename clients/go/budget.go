package seendb

import (
	"errors"
	"math/rand"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	retryShare = 0.1
	retryMost  = 10.0
)

// budget is how many second tries there may be: one for ten calls, and ten at once. Without it a server
// that answers half of what it is asked is asked twice as much.
type budget struct {
	mutex  sync.Mutex
	left   float64
	jitter *rand.Rand // of its own: Go 1.19 begins each process with the same numbers
}

func newBudget() *budget {
	return &budget{left: retryMost, jitter: rand.New(rand.NewSource(time.Now().UnixNano()))}
}

func (b *budget) first() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.left += retryShare
	if b.left > retryMost {
		b.left = retryMost
	}
}

// second says whether there may be one.
func (b *budget) second() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

const doublingsMost = 7 // 1.3 s

// wait is how long to wait before a second try: as the server asked, else a little more each time; longer
// by up to a half, so that callers who were refused together don't come back together.
func (b *budget) wait(attempt int, header http.Header) time.Duration {
	if attempt > doublingsMost {
		attempt = doublingsMost
	}
	wait := 10 * time.Millisecond << attempt
	if ms, told := number(header.Get("SeenDB-Retry-After-Ms")); told {
		wait = time.Duration(ms) * time.Millisecond
	} else if seconds, told := number(header.Get("Retry-After")); told {
		wait = time.Duration(seconds) * time.Second
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return wait + time.Duration(b.jitter.Int63n(int64(wait)/2+1))
}

// number reads digits; many of them are a great number.
func number(text string) (uint64, bool) {
	value, err := strconv.ParseUint(text, 10, 31)
	return value, err == nil || errors.Is(err, strconv.ErrRange)
}
