package seendb

import (
	"container/list"
	"encoding/json"
	"sync"
)

// murmur2 is Austin Appleby's MurmurHash2 with Kafka's seed: so Java's producers partition.
func murmur2(data []byte) uint32 {
	const m = 0x5bd1e995
	value := uint32(0x9747b28c) ^ uint32(len(data))
	for ; len(data) >= 4; data = data[4:] {
		k := uint32(data[0]) | uint32(data[1])<<8 | uint32(data[2])<<16 | uint32(data[3])<<24
		k *= m
		k ^= k >> 24
		value = value*m ^ k*m
	}
	switch len(data) {
	case 3:
		value ^= uint32(data[2]) << 16
		fallthrough
	case 2:
		value ^= uint32(data[1]) << 8
		fallthrough
	case 1:
		value = (value ^ uint32(data[0])) * m
	}
	value = (value ^ value>>13) * m
	return value ^ value>>15
}

func partitionOf(user string, partitions int) int {
	return int(murmur2([]byte(user))&0x7fffffff) % partitions
}

// placement is what GET /cluster says: of each partition the nodes' URLs, the primary first.
type placement struct {
	partitions int
	urls       [][]string
}

func readPlacement(body []byte) (*placement, error) {
	var told struct {
		Partitions int
		Nodes      []struct{ Node, URL string }
		Shards     []struct {
			Partition int
			Replicas  []struct{ Node string }
		}
	}
	if err := json.Unmarshal(body, &told); err != nil {
		return nil, err
	}
	urls := map[string]string{}
	for _, one := range told.Nodes {
		urls[one.Node] = one.URL
	}
	read := &placement{partitions: told.Partitions, urls: make([][]string, told.Partitions)}
	for _, shard := range told.Shards {
		for _, replica := range shard.Replicas {
			if url, known := urls[replica.Node]; known && shard.Partition < told.Partitions {
				read.urls[shard.Partition] = append(read.urls[shard.Partition], url)
			}
		}
	}
	return read, nil
}

func (p *placement) urlsOf(user string) []string {
	if p == nil || p.partitions == 0 {
		return nil
	}
	return p.urls[partitionOf(user, p.partitions)]
}

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
