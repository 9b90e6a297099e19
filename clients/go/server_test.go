package seendb

// Against the server that SEENDB_URL names, which has the role admin for everybody.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

func connect(t *testing.T) (*Client, context.Context, ID) {
	t.Helper()
	url := os.Getenv("SEENDB_URL")
	if url == "" {
		t.Skip("SEENDB_URL names no server")
	}
	c, err := NewWith(Options{Timeout: 30 * time.Second}, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, context.Background(), Text(fmt.Sprintf("go-%s-%d", t.Name(), time.Now().UnixNano()))
}

func equal(t *testing.T, got, expected any) {
	t.Helper()
	if !reflect.DeepEqual(got, expected) {
		t.Fatalf("%#v, not %#v", got, expected)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestWhatWasPlayedIsSeen(t *testing.T) {
	c, ctx, user := connect(t)
	ids := []ID{Number(1<<53 + 1), Number(1<<64 - 1), Text("007"), Text("café"), Text("cafe\u0301"), Text("a+b"),
		Text("a b"), Text("a/b"), Text(strings.Repeat("x", 255))}
	plays := []Play{}
	for _, item := range ids[:4] {
		plays = append(plays, Play{User: user, Item: item})
	}
	recorded, err := c.RecordPlays(ctx, plays)
	must(t, err)
	equal(t, recorded, Recorded{Accepted: 4})
	found, err := c.Filter(ctx, user, ids)
	must(t, err)
	equal(t, found.Unseen, ids[4:])
	equal(t, []int{found.Seen, found.Examined}, []int{4, 9})
	for _, odd := range ids {
		_, err := c.RecordPlays(ctx, []Play{{User: odd, Item: Text("v")}})
		must(t, err)
		known, err := c.Erase(ctx, odd)
		must(t, err)
		equal(t, known, true)
	}
}

func TestNumbersGoInBinaryAndSayTheSame(t *testing.T) {
	c, ctx, user := connect(t)
	plays, numbers, unseen := []Play{}, []ID{}, []ID{}
	for n := uint64(0); n < 100; n++ {
		numbers = append(numbers, Number(n))
		if n%3 == 0 {
			plays = append(plays, Play{User: user, Item: Number(n)})
		} else {
			unseen = append(unseen, Number(n))
		}
	}
	_, err := c.RecordPlays(ctx, plays)
	must(t, err)
	found, err := c.Filter(ctx, user, numbers)
	must(t, err)
	equal(t, found.Unseen, unseen)
	found, err = c.Filter(ctx, user, append(append([]ID{}, numbers...), Text("text")))
	must(t, err)
	equal(t, found.Unseen, append(append([]ID{}, unseen...), Text("text")))
	found, err = c.Filter(ctx, user, numbers, Limit(3), Exclude(Number(1), Number(2)), Record())
	must(t, err)
	equal(t, found.Unseen, Numbers(4, 5, 7))
	equal(t, []any{found.Excluded, found.Recorded}, []any{2, true})
	found, err = c.Filter(ctx, user, Texts("4", "8"), Explain())
	must(t, err)
	equal(t, found.Reasons, map[string]string{"4": "impression"})
}

func TestErrorsNameTheField(t *testing.T) {
	c, ctx, user := connect(t)
	for i, one := range []struct {
		err         error
		code, field string
	}{
		{second(c.Filter(ctx, user, Texts("v", ""))), "invalid_argument", "/items/1"},
		{second(c.Filter(ctx, Text(""), Texts("v"))), "invalid_argument", "/user"},
		{second(c.Filter(ctx, user, Texts("\xff"))), "invalid_argument", "/items/0"},
		{second(c.Filter(ctx, user, Texts("v"), Collection("nowhere"))), "not_found", "/collection"},
		{second(c.Filter(ctx, user, Numbers(1), Collection("nowhere"))), "not_found", "/collection"},
		{second(c.RecordPlays(ctx, []Play{{User: user, Item: Text("v"), At: time.Unix(1, 0)}})), "invalid_argument", "/events/0/at"},
		{c.PutCollection(ctx, "odd", map[string]any{"fpr": 2}), "invalid_argument", "/fpr"},
		{c.Call(ctx, "GET", "/nowhere", nil, nil), "not_found", ""},
	} {
		var told *Error
		if !errors.As(one.err, &told) || told.Code != one.code || told.Field != one.field || !strings.Contains(told.Error(), told.Message) {
			t.Errorf("%d: %v", i, one.err)
		}
	}
	_, err := c.RecordPlays(ctx, []Play{{User: user, Item: Text("v"), At: time.Unix(1, 0)}})
	var refused *Refused
	if !errors.As(err, &refused) || refused.Recorded.Refused != 1 {
		t.Fatal(err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestPages(t *testing.T) {
	c, ctx, user := connect(t)
	candidates := []ID{}
	for i := 0; i < 50; i++ {
		candidates = append(candidates, Text(fmt.Sprint("p", i)))
	}
	all := []ID{}
	for i := 0; i < 3; i++ {
		page, err := c.FillPage(ctx, user, candidates, 20, FailOpen)
		must(t, err)
		all = append(all, page...)
	}
	equal(t, all, candidates)
	asked := []int{}
	search := func(_ context.Context, count int) ([]ID, error) {
		asked = append(asked, count)
		found := append(append([]ID{}, candidates...), Texts("q1", "q2", "q3", "q4", "q5", "q6")...)
		if count > len(found) {
			count = len(found)
		}
		return found[:count], nil
	}
	found, err := c.SearchUnseen(ctx, search, user, 5)
	must(t, err)
	equal(t, found, Texts("q1", "q2", "q3", "q4", "q5"))
	equal(t, asked[0], 10)
}

func TestHistory(t *testing.T) {
	c, ctx, user := connect(t)
	name := "c" + strings.ToLower(fmt.Sprint(time.Now().UnixNano()))
	must(t, c.PutCollection(ctx, name, map[string]any{"history": map[string]any{"enabled": true}}))
	defer func() { must(t, c.DeleteCollection(ctx, name)) }()
	plays := []Play{}
	five := 5
	for i := 0; i < 25; i++ {
		plays = append(plays, Play{User: user, Item: Text(fmt.Sprintf("h%02d", i)), ProgressS: &five, At: time.Now().Add(-time.Duration(i) * time.Second)})
	}
	_, err := c.RecordPlays(ctx, plays, Collection(name))
	must(t, err)
	items, cursor := []string{}, ""
	for {
		page, err := c.HistoryPage(ctx, user, 10, cursor, Collection(name))
		must(t, err)
		for _, entry := range page.Entries {
			equal(t, entry.ProgressS, 5)
			items = append(items, entry.Item)
		}
		if cursor = page.Cursor; cursor == "" {
			break
		}
	}
	equal(t, len(items), 25)
	equal(t, items[24], "h24")
	must(t, c.DeleteHistory(ctx, user, Texts("h03"), Collection(name)))
	must(t, c.SetRecording(ctx, user, false))
	page, err := c.HistoryPage(ctx, user, 100, "")
	must(t, err)
	equal(t, len(page.Entries), 24)
	must(t, c.ClearHistory(ctx, user))
	page, err = c.HistoryPage(ctx, user, 100, "", Collection("default"))
	must(t, err)
	equal(t, *page.Kept, false)
}

func TestOneClientForAllGoroutines(t *testing.T) {
	c, ctx, user := connect(t)
	var group sync.WaitGroup
	for number := 0; number < 8; number++ {
		group.Add(1)
		go func(own ID) {
			defer group.Done()
			for i := uint64(0); i < 20; i++ {
				if _, err := c.RecordPlays(ctx, []Play{{User: own, Item: Number(i)}}); err != nil {
					t.Error(err)
				}
				found, err := c.Filter(ctx, own, Numbers(i, i+1))
				if err != nil || len(found.Unseen) != 1 {
					t.Error(found, err)
				}
			}
		}(Text(user.String() + fmt.Sprint(number)))
	}
	group.Wait()
}
