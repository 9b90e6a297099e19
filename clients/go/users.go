package seendb

import (
	"container/list"
	"sort"
	"strconv"
	"strings"
	"sync"
)

const usersMost = 10_000

// lastUsers keeps something of each of the last users.
type lastUsers struct {
	mutex sync.Mutex
	order *list.List
	of    map[string]*list.Element
}

type lastUser struct {
	user  string
	value any
}

func newLastUsers() *lastUsers {
	return &lastUsers{order: list.New(), of: map[string]*list.Element{}}
}

func (l *lastUsers) get(user string) any {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if element, known := l.of[user]; known {
		return element.Value.(*lastUser).value
	}
	return nil
}

// change replaces what is known of the user by what `to` makes of it.
func (l *lastUsers) change(user string, to func(before any) any) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	element, known := l.of[user]
	if !known {
		element = l.order.PushBack(&lastUser{user: user})
		l.of[user] = element
	}
	l.order.MoveToBack(element)
	one := element.Value.(*lastUser)
	one.value = to(one.value)
	for l.order.Len() > usersMost {
		first := l.order.Front()
		l.order.Remove(first)
		delete(l.of, first.Value.(*lastUser).user)
	}
}

const partsMost = 8 // a batch of more partitions than that is not read back user by user

// readPosition reads "3:1042,5:7", partitions and offsets. What is no such pair is passed over.
func readPosition(text string) map[int]uint64 {
	parts := map[int]uint64{}
	for _, part := range strings.Split(text, ",") {
		left, right, _ := strings.Cut(strings.TrimSpace(part), ":")
		partition, err := strconv.Atoi(left)
		offset, wrong := strconv.ParseUint(right, 10, 64)
		if err == nil && wrong == nil && offset >= parts[partition] {
			parts[partition] = offset
		}
	}
	return parts
}

// newest is the greatest offset of each partition: answers may come in another order than the writes.
func newest(before string, told map[int]uint64) string {
	known := readPosition(before)
	for partition, offset := range told {
		if offset >= known[partition] {
			known[partition] = offset
		}
	}
	partitions := []int{}
	for partition := range known {
		partitions = append(partitions, partition)
	}
	sort.Ints(partitions)
	// Too many: those that were not told just now go.
	kept := []string{}
	spare := len(partitions) - partsMost
	for _, partition := range partitions {
		if _, fresh := told[partition]; !fresh && spare > 0 {
			spare--
			continue
		}
		kept = append(kept, strconv.Itoa(partition)+":"+strconv.FormatUint(known[partition], 10))
	}
	return strings.Join(kept, ",")
}
