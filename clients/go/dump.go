package seendb

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"sort"
	"strconv"
)

// Dumps of filters: engine/doc/filter-dump.md.

const (
	dumpHead, dumpEntry                                                         = 54, 32
	partRing, partImpressions, partExposures, partRecord, partMarks, partBucket = 1, 2, 3, 4, 5, 6
	mostLayers                                                                  = 32
	hashSeed                                                                    = 0x5EE0DB015EE0DB01
)

func damaged(why string) error {
	return &Error{Code: "protocol", Message: "the dump of a filter " + why}
}

// itemKey makes fingerprints out of ids.
type itemKey struct {
	version int
	id      uint64
	secret  []byte
	seed    uint64
}

func readKey(body []byte) (*itemKey, error) {
	var told struct {
		Version    int
		ID, Secret string
	}
	if err := json.Unmarshal(body, &told); err != nil {
		return nil, damaged("has a key that is no JSON")
	}
	secret, err := hex.DecodeString(told.Secret)
	id, idErr := strconv.ParseUint(told.ID, 16, 64)
	switch {
	case err != nil || idErr != nil:
	case told.Version == 1 && len(secret) == 0:
		return &itemKey{1, id, xxh3Secret, hashSeed}, nil
	case told.Version == 2 && len(secret) == len(xxh3Secret):
		return &itemKey{2, id, secret, 0}, nil
	}
	return nil, damaged("has a key that this client does not know")
}

func (k *itemKey) of(id ID) uint64 {
	if id.isNumber {
		return xxh3Number(id.number, k.secret, k.seed) >> 16
	}
	if number, err := strconv.ParseUint(id.text, 10, 64); err == nil && strconv.FormatUint(number, 10) == id.text {
		return xxh3Number(number, k.secret, k.seed) >> 16
	}
	return xxh3([]byte(id.text), k.secret, k.seed) >> 16
}

type fingerprints []byte // packed, ascending

func (f fingerprints) at(i int) uint64 {
	return uint64(binary.LittleEndian.Uint32(f[6*i:])) | uint64(binary.LittleEndian.Uint16(f[6*i+4:]))<<32
}

func (f fingerprints) has(item uint64) bool {
	count := len(f) / 6
	i := sort.Search(count, func(i int) bool { return f.at(i) >= item })
	return i < count && f.at(i) == item
}

type bloom struct {
	blocks uint64
	bits   []byte
}

var laneSalts = [8]uint32{0x6A09E667, 0xBB67AE85, 0x3C6EF373, 0xA54FF53B, 0x510E527F, 0x9B05688D, 0x1F83D9AB, 0x5BE0CD19}

func (b bloom) has(hash uint64) bool {
	block := b.bits[((hash>>32)*b.blocks)>>32*64:]
	for lane, salt := range laneSalts {
		if word(block, 8*lane)>>((uint32(hash)*salt)>>26)&1 == 0 {
			return false
		}
	}
	return true
}

type dumpPart struct {
	kind   byte
	lists  []fingerprints
	blooms []bloom
	marks  map[string]int64
}

func (p *dumpPart) has(item uint64) bool {
	for _, list := range p.lists {
		if list.has(item) {
			return true
		}
	}
	hash := item * 0x9E3779B97F4A7C15
	hash ^= hash >> 32
	for _, one := range p.blooms {
		if one.has(hash) {
			return true
		}
	}
	return false
}

// dumpReader reads on while there is enough.
type dumpReader struct {
	rest []byte
	bad  bool
}

func (r *dumpReader) take(count uint64) []byte {
	if r.bad || count > uint64(len(r.rest)) {
		r.bad = true
		return nil
	}
	taken := r.rest[:count]
	r.rest = r.rest[count:]
	return taken
}

func (r *dumpReader) number(size uint64) uint64 {
	value := uint64(0)
	for i, one := range r.take(size) {
		value |= uint64(one) << (8 * i)
	}
	return value
}

func (r *dumpReader) list(count uint64) fingerprints {
	list := fingerprints(r.take(6 * count))
	for i := 1; i < len(list)/6; i++ {
		if list.at(i-1) >= list.at(i) {
			r.bad = true
		}
	}
	return list
}

func readPart(kind byte, body []byte) (*dumpPart, error) {
	part, in := &dumpPart{kind: kind, marks: map[string]int64{}}, &dumpReader{rest: append([]byte(nil), body...)}
	count := in.number(4)
	switch kind {
	case partMarks:
		for i := uint64(0); i < count && !in.bad; i++ {
			size, until := in.number(1), int64(in.number(8))
			part.marks[string(in.take(size))] = until
		}
	case partBucket:
		layers := in.number(4)
		if layers > mostLayers {
			return nil, damaged("has too many layers")
		}
		sizes := make([][2]uint64, layers)
		for i := range sizes {
			sizes[i] = [2]uint64{in.number(4), in.number(4)}
		}
		part.lists = append(part.lists, in.list(count))
		for _, size := range sizes {
			if size[0] == 0 {
				part.lists = append(part.lists, in.list(size[1]))
			} else {
				part.blooms = append(part.blooms, bloom{size[0], in.take(64 * size[0])})
			}
		}
	default:
		part.lists = append(part.lists, in.list(count))
	}
	if in.bad || len(in.rest) > 0 {
		return nil, damaged("has a part that is cut off, longer than it says or out of order")
	}
	return part, nil
}

// dump is a user's filter in one collection; it never changes.
type dump struct {
	degraded              bool
	missing               []string
	keyID                 uint64
	hashVersion           int
	etag                  string
	parts                 map[uint64]*dumpPart
	shown, played, record []*dumpPart
	marks                 map[string]int64
}

// readDump reads a dump. `former` has the parts that it leaves out; nil: there is none.
func readDump(body []byte, former *dump) (*dump, error) {
	in := &dumpReader{rest: body}
	magic, version, flags := string(in.take(6)), in.number(1), in.number(1)
	if magic != "SeenFD" || version != 1 || flags > 1 {
		return nil, damaged("is not of version 1")
	}
	in.take(24) // times
	d := &dump{degraded: flags == 1, parts: map[uint64]*dumpPart{}, marks: map[string]int64{}}
	d.keyID = in.number(8)
	d.etag = fmt.Sprintf("\"%016x", in.number(8))
	d.hashVersion = int(in.number(2))
	count, labels := in.number(2), in.number(2)
	for i := uint64(0); i < labels; i++ {
		d.missing = append(d.missing, string(in.take(in.number(1))))
	}
	entries := &dumpReader{rest: in.take(dumpEntry * count), bad: in.bad}
	for i := uint64(0); i < count && !entries.bad; i++ {
		kind, sent := byte(entries.number(1)), entries.number(1)
		entries.take(2)
		size, hash := entries.number(4), entries.number(8)
		entries.take(16) // the bucket
		if kind < partRing || kind > partBucket || (sent == 0 && size > 0) {
			return nil, damaged("has a part that this client does not know")
		}
		var part *dumpPart
		if sent != 0 {
			var err error
			if part, err = readPart(kind, in.take(size)); err != nil {
				return nil, err
			}
		} else if former != nil {
			part = former.parts[hash]
		}
		if part == nil || part.kind != kind {
			return nil, damaged("leaves out a part that was never sent")
		}
		d.add(hash, part)
	}
	if in.bad || entries.bad || len(in.rest) > 0 {
		return nil, damaged("is cut off, or longer than it says")
	}
	d.etag += "\""
	return d, nil
}

func (d *dump) add(hash uint64, part *dumpPart) {
	d.parts[hash] = part
	d.etag += fmt.Sprintf("-%016x", hash)
	switch part.kind {
	case partImpressions, partExposures:
		d.shown = append(d.shown, part)
	case partRecord:
		d.record = append(d.record, part)
	case partMarks:
		d.marks = part.marks
	default:
		d.played = append(d.played, part)
	}
}

func anyHas(parts []*dumpPart, item uint64) bool {
	for _, part := range parts {
		if part.has(item) {
			return true
		}
	}
	return false
}

// seen says whether a fingerprint was served, exposed or played.
func (d *dump) seen(item uint64) bool {
	return anyHas(d.shown, item) || (anyHas(d.played, item) && !anyHas(d.record, item))
}

// marked says whether groups are marked far enough, and whether a time that is not known would tell.
func (d *dump) marked(groups Groups) (marked, undated bool) {
	for _, group := range groups.Of {
		until, is := d.marks[group]
		switch {
		case !is:
		case until == math.MaxInt64 || (!groups.At.IsZero() && until >= groups.At.UnixMilli()):
			return true, false
		default:
			undated = groups.At.IsZero()
		}
	}
	return false, undated
}
