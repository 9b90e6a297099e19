package seendb

import (
	"container/list"
	"context"
	"encoding/hex"
	"encoding/json"
	"math/rand"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What the engine made: clients/conformance/local/vectors.json.
func TestDumpsOfTheEngine(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(conformance(), "local", "vectors.json"))
	must(t, err)
	var vectors []struct {
		Name, Etag, Dump string
		Key              json.RawMessage
		Candidates       []struct {
			ID string
			Of []string
			At int64
		}
		Unseen []int
	}
	must(t, json.Unmarshal(text, &vectors))
	for _, one := range vectors {
		key, err := readKey(one.Key)
		must(t, err)
		body, err := hex.DecodeString(one.Dump)
		must(t, err)
		read, err := readDump(body, nil)
		must(t, err)
		equal(t, read.etag, one.Etag)
		local := &LocalFilter{options: LocalOptions{Refresh: -1}, key: key, dump: read, noted: map[uint64]*list.Element{}}
		ids, groups, unseen := []ID{}, map[string]Groups{}, []ID{}
		for _, candidate := range one.Candidates {
			ids = append(ids, Text(candidate.ID))
			of := Groups{Of: candidate.Of}
			if candidate.At != 0 {
				of.At = time.UnixMilli(candidate.At)
			}
			groups[candidate.ID] = of
		}
		for _, position := range one.Unseen {
			unseen = append(unseen, ids[position])
		}
		found, err := local.Filter(ids, GroupedBy(func(id ID) Groups { return groups[id.String()] }))
		must(t, err)
		equal(t, found.Unseen, unseen)
		for cut := 0; cut < len(body) && cut < 2_000; cut++ {
			if _, err := readDump(body[:cut], nil); err == nil {
				t.Fatalf("%s: cut at %d it was read", one.Name, cut)
			}
		}
	}
}

func TestLocalFilterAnswersAsTheServer(t *testing.T) {
	c, ctx, user := connect(t)
	local, err := c.LocalFilter(ctx, user, LocalOptions{Refresh: -1})
	must(t, err)
	chosen := rand.New(rand.NewSource(7))
	some := func(count int) []ID {
		ids := []ID{}
		for i := 0; i < count; i++ {
			if number := chosen.Uint64() % 9_000; number%2 == 0 {
				ids = append(ids, Number(number))
			} else {
				ids = append(ids, Text("v"+Number(number).String()))
			}
		}
		return ids
	}
	for round := 0; round < 3; round++ {
		plays := []Play{}
		for _, item := range some(1_500) {
			plays = append(plays, Play{User: user, Item: item})
		}
		_, err = c.RecordPlays(ctx, plays)
		must(t, err)
		_, err = c.RecordImpressions(ctx, user, some(50))
		must(t, err)
		page := some(2_000)
		asked, err := c.Filter(ctx, user, page)
		must(t, err)
		must(t, local.Refresh(ctx))
		found, err := local.Filter(page)
		must(t, err)
		equal(t, found.Unseen, asked.Unseen)
		equal(t, []int{found.Seen, found.Duplicates, found.Examined}, []int{asked.Seen, asked.Duplicates, asked.Examined})
		must(t, c.Call(ctx, "POST", "/admin/drain", map[string]any{}, nil))
	}
	local.Note(Text("new"))
	found, err := local.Filter(Texts("new", "other"))
	must(t, err)
	equal(t, found.Unseen, Texts("other"))
}

func TestLocalFilterRefreshesBehindItsAnswers(t *testing.T) {
	c, ctx, user := connect(t)
	local, err := c.LocalFilter(ctx, user, LocalOptions{Refresh: time.Millisecond})
	must(t, err)
	_, err = c.RecordPlays(ctx, []Play{{User: user, Item: Text("v1")}})
	must(t, err)
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		found, err := local.Filter(Texts("v1"))
		must(t, err)
		if len(found.Unseen) == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("still not seen")
		}
	}
	must(t, local.Err())
}

// localOf is one of the engine's first dump, whose server refuses each refresh.
func localOf(t *testing.T, l *liar) *LocalFilter {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(conformance(), "local", "vectors.json"))
	must(t, err)
	var vectors []struct {
		Dump string
		Key  json.RawMessage
	}
	must(t, json.Unmarshal(text, &vectors))
	key, err := readKey(vectors[0].Key)
	must(t, err)
	body, err := hex.DecodeString(vectors[0].Dump)
	must(t, err)
	read, err := readDump(body, nil)
	must(t, err)
	return &LocalFilter{client: client(t, Options{Retries: -1}, l.url), user: Text("u"), key: key, dump: read,
		options: LocalOptions{Refresh: time.Minute, Keep: time.Minute}, noted: map[uint64]*list.Element{}}
}

func TestARefreshThatFailedIsTriedAgainASecondLater(t *testing.T) {
	l := lie(t, repeated(refusal(503, "busy"), 9)...)
	local := localOf(t, l)
	equal(t, CodeOf(local.Refresh(context.Background())), "busy")
	for i := 0; i < 50; i++ {
		_, err := local.Filter(Texts("v"))
		must(t, err)
		time.Sleep(time.Millisecond)
	}
	equal(t, l.count(), 1)
	local.mutex.Lock()
	local.tried = time.Now().Add(-localAgain)
	local.mutex.Unlock()
	for end := time.Now().Add(20 * time.Second); l.count() < 2 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		_, err := local.Filter(Texts("v"))
		must(t, err)
	}
	equal(t, l.count(), 2)
}

func TestTheOldestOfManyNotedItemsIsForgotten(t *testing.T) {
	local := localOf(t, lie(t))
	items := []ID{}
	for i := 0; i < notedMost; i++ {
		items = append(items, Number(uint64(i)+1<<40))
	}
	local.Note(items...)
	local.Note(items[0]) // it is the newest now
	local.Note(Text("new"))
	equal(t, []int{len(local.noted), local.order.Len()}, []int{notedMost, notedMost})
	now := time.Now()
	for i, seen := range []bool{true, false, true} {
		equal(t, local.isNoted(local.key.of(items[i]), now), seen)
	}
	equal(t, local.isNoted(local.key.of(items[0]), now.Add(time.Hour)), false)
	local.options.Keep = -time.Second
	local.Note(items[2])
	equal(t, local.order.Len(), notedMost) // those before it still count
}
