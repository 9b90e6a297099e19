package seendb

import (
	"encoding/json"
	"errors"
	"sort"
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

const partitionsMost = 1 << 20 // more is no map

func readPlacement(body []byte) (*placement, error) {
	var told struct {
		Partitions int
		Nodes      []struct{ Node, URL, State string }
		Shards     []struct {
			Partition int
			Replicas  []struct{ Node string }
		}
	}
	if err := json.Unmarshal(body, &told); err != nil {
		return nil, err
	}
	if told.Partitions < 1 || told.Partitions > partitionsMost {
		return nil, errors.New("no map of a cluster")
	}
	urls, down := map[string]string{}, map[string]bool{}
	for _, one := range told.Nodes {
		if base, err := webBaseOf(one.URL); err == nil {
			urls[one.Node] = base
			down[base] = one.State != "" && one.State != "up"
		}
	}
	read := &placement{partitions: told.Partitions, urls: make([][]string, told.Partitions)}
	for _, shard := range told.Shards {
		if shard.Partition < 0 || shard.Partition >= told.Partitions {
			return nil, errors.New("a partition that is none")
		}
		own := []string{}
		for _, replica := range shard.Replicas {
			if url, known := urls[replica.Node]; known {
				own = append(own, url)
			}
		}
		// Those that are up first, the primary before others.
		sort.SliceStable(own, func(i, j int) bool { return !down[own[i]] && down[own[j]] })
		read.urls[shard.Partition] = own
	}
	return read, nil
}

func (p *placement) urlsOf(user string) []string {
	if p == nil || p.partitions == 0 {
		return nil
	}
	return p.urls[partitionOf(user, p.partitions)]
}
