package seendb

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// Double is a client for the tests of whoever calls SeenDB: no server, all in memory. It knows plays, impressions,
// exposures, marks, filters, erasures, collections, items and sets; it forgets nothing, and no time is too old for it. Of Not
// it goes by facts and surfaces. What it does not know, histories, counts, caps, SameAs, Collections and rules on items among
// it, it refuses.
type Double struct {
	*Client

	mutex       sync.Mutex
	calls       []string
	failures    []string
	degraded    bool
	collections map[string]bool
	exposed     map[string]bool                          // collections whose policy says exposed_is_seen
	seen        map[[2]string]map[string]map[string]bool // by collection and user: items, facts: "exposed", "exposed home"
	marks       map[string]map[string]Mark               // by user and group
	sets        map[string]map[string]bool               // by name: texts of ids
	items       map[string]map[string]doubledValue       // by item and field; "": what it had before that version is gone
}

// doubledValue is null where the field was taken away.
type doubledValue struct {
	version int64
	value   json.RawMessage
}

// NewDouble makes one.
func NewDouble() *Double {
	d := &Double{collections: map[string]bool{"default": true}, exposed: map[string]bool{}, seen: map[[2]string]map[string]map[string]bool{},
		marks: map[string]map[string]Mark{}, items: map[string]map[string]doubledValue{}, sets: map[string]map[string]bool{}}
	d.Client, _ = NewWith(Options{Retries: -1}, "http://double")
	d.Client.http = &http.Client{Transport: d}
	return d
}

// Fail has the next calls fail with these codes.
func (d *Double) Fail(codes ...string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.failures = append(d.failures, codes...)
}

// Degrade has answers be degraded, or not any more.
func (d *Double) Degrade(degraded bool) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.degraded = degraded
}

// Calls is what it was asked: methods and paths.
func (d *Double) Calls() []string {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return append([]string{}, d.calls...)
}

// doubled is what requests say.
type doubled struct {
	User            ID
	Items           []doubledItem
	Exclude, IDs    []ID
	ExcludeSets     []string `json:"exclude_sets"`
	Collection      string
	Limit           int
	Record, Explain bool
	Facts, Fields   []string
	Not             []struct{ Fact, Surface string }
	Events          []doubledEvent
	ExposedIsSeen   bool `json:"exposed_is_seen"`
}

// rows reads plays of a Bulk, in binary.
func (d *doubled) rows(body []byte, numbers bool) {
	id := func() (id ID) {
		size := 8
		if id = Number(binary.LittleEndian.Uint64(body)); !numbers {
			size = 4 + int(binary.LittleEndian.Uint32(body))
			id = Text(string(body[4:size]))
		}
		body = body[size:]
		return id
	}
	for ; len(body) > 0; body = body[8:] {
		one := doubledEvent{User: id()}
		one.Item = id()
		d.Events = append(d.Events, one)
	}
}

// doubledEvent is a play, an impression or an exposure, or a line of a set.
type doubledEvent struct {
	User, Item ID
	Surface    string
	Items      []ID
	SameAs     []string `json:"same_as"`
}

// sameAs is where groups that are the same are named, which a double does not know; empty: nowhere.
func (d *doubled) sameAs() string {
	for i, one := range d.Events {
		if one.SameAs != nil {
			return fmt.Sprintf("/events/%d/same_as", i)
		}
	}
	for i, one := range d.Items {
		if one.SameAs != nil {
			return fmt.Sprintf("/items/%d/same_as", i)
		}
	}
	return ""
}

// doubledItem is an id, a candidate or an update of an item.
type doubledItem struct {
	ID              ID
	Of, Unset       []string
	SameAs          []string `json:"same_as"`
	At              *int64
	Version         int64
	Set             map[string]json.RawMessage
	Replace, Delete bool
}

func (i *doubledItem) UnmarshalJSON(text []byte) error {
	type plain doubledItem
	if text[0] != '{' {
		return json.Unmarshal(text, &i.ID)
	}
	return json.Unmarshal(text, (*plain)(i))
}

// RoundTrip answers in place of a server.
func (d *Double) RoundTrip(asked *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(asked.Body)
	if err != nil {
		return nil, err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.calls = append(d.calls, asked.Method+" "+asked.URL.Path)
	if len(d.failures) > 0 {
		code := d.failures[0]
		d.failures = d.failures[1:]
		return d.refuse(http.StatusServiceUnavailable, code, "")
	}
	query := asked.URL.Query()
	told := doubled{Collection: query.Get("collection")}
	rows := query.Has("ids") && asked.URL.Path == "/plays"
	packed := query.Get("ids") == "u64" && !rows
	switch kind := asked.Header.Get("Content-Type"); {
	case rows:
		told.rows(body, query.Get("ids") == "u64")
	case packed:
		told.User, told.Record = Text(query.Get("user")), query.Get("record") == "true"
		told.Limit, _ = strconv.Atoi(query.Get("limit"))
		if names := query.Get("exclude_sets"); names != "" {
			told.ExcludeSets = strings.Split(names, ",")
		}
		for ; len(body) >= 8; body = body[8:] {
			told.Items = append(told.Items, doubledItem{ID: Number(binary.LittleEndian.Uint64(body))})
		}
		excluded, _ := strconv.Atoi(query.Get("exclude"))
		for _, one := range told.Items[len(told.Items)-excluded:] {
			told.Exclude = append(told.Exclude, one.ID)
		}
		told.Items = told.Items[:len(told.Items)-excluded]
	case kind == "application/x-ndjson":
		lines := bytes.ReplaceAll(bytes.TrimSpace(body), []byte("\n"), []byte(","))
		err = json.Unmarshal([]byte(`{"events":[`+string(lines)+"]}"), &told)
	case len(body) > 0 && asked.URL.Path != "/items/schema":
		err = json.Unmarshal(body, &told)
	}
	if err != nil {
		return nil, err
	}
	if query.Get("collections") != "" {
		return d.refuse(http.StatusBadRequest, "invalid_argument", "/collections")
	}
	if field := told.sameAs(); field != "" {
		return d.refuse(http.StatusBadRequest, "invalid_argument", field)
	}
	if told.Collection == "" {
		told.Collection = "default"
	}
	path := strings.Split(strings.TrimPrefix(asked.URL.EscapedPath(), "/"), "/")
	name, _ := url.PathUnescape(path[len(path)-1])
	switch {
	case path[0] == "collections" && len(path) == 2 && asked.Method == "PUT":
		d.collections[name] = true
		d.exposed[name] = d.exposed[name] || told.ExposedIsSeen
		return d.say(map[string]any{"name": name}, nil)
	case path[0] == "collections" && len(path) == 2 && d.collections[name]:
		delete(d.collections, name)
		return d.say(map[string]any{"deleted": true}, nil)
	case path[0] == "users" && len(path) == 2 && asked.Method == "DELETE":
		known := false
		for key := range d.seen {
			if key[1] == name {
				known = true
				delete(d.seen, key)
			}
		}
		_, marked := d.marks[name]
		known = known || marked
		delete(d.marks, name)
		return d.say(map[string]any{"erased": true, "known": known}, nil)
	case path[0] == "users" && len(path) == 2:
		return d.say(map[string]any{"user": name}, nil)
	case path[0] == "users" && path[2] == "marks":
		user, _ := url.PathUnescape(path[1])
		return d.mark(asked.Method, user, name, body, query)
	case path[0] == "sets":
		return d.set(asked.Method, name, len(path) > 1, told, query)
	case path[0] == "items":
		return d.item(asked.Method, name, told)
	case !d.collections[told.Collection]:
		return d.refuse(http.StatusNotFound, "not_found", "/collection")
	case path[0] == "plays" || path[0] == "impressions" || path[0] == "exposures":
		return d.record(path[0], told)
	case path[0] == "filter":
		var members map[string]json.RawMessage
		_ = json.Unmarshal(body, &members)
		for _, rule := range []string{"collections", "caps", "where", "at_most", "unknown", "fields", "when_short"} {
			if _, is := members[rule]; is && !packed {
				return d.refuse(http.StatusBadRequest, "invalid_argument", "/"+rule)
			}
		}
		return d.filter(told, packed)
	}
	return d.refuse(http.StatusNotFound, "not_found", "")
}

func (d *Double) note(told doubled, user ID, item, fact string) {
	key := [2]string{told.Collection, user.String()}
	if d.seen[key] == nil {
		d.seen[key] = map[string]map[string]bool{}
	}
	if d.seen[key][item] == nil {
		d.seen[key][item] = map[string]bool{}
	}
	d.seen[key][item][fact] = true
}

// factNames is what the facts of requests and routes are here.
var factNames = map[string]string{"plays": "play", "impressions": "impression", "exposures": "exposed", "played": "play", "served": "impression", "exposed": "exposed"}

func (d *Double) record(kind string, told doubled) (*http.Response, error) {
	for _, item := range told.Items {
		d.note(told, told.User, item.ID.String(), factNames[kind])
	}
	for _, one := range told.Events {
		d.note(told, one.User, one.Item.String(), factNames[kind])
		d.note(told, one.User, one.Item.String(), factNames[kind]+" "+one.Surface)
	}
	return d.say(map[string]any{"accepted": len(told.Events) + len(told.Items), "refused": 0, "refusals": []any{}}, nil)
}

// asked gives the facts that make an item seen.
func (d *Double) asked(told doubled) (facts []string) {
	for _, one := range told.Not {
		fact := factNames[one.Fact]
		if one.Surface != "" {
			fact += " " + one.Surface
		}
		facts = append(facts, fact)
	}
	if facts != nil {
		return facts
	}
	if told.Facts == nil {
		told.Facts = []string{"plays", "impressions"}
	}
	for _, one := range told.Facts {
		facts = append(facts, factNames[one])
	}
	if d.exposed[told.Collection] {
		facts = append(facts, "exposed")
	}
	return facts
}

// why says why a candidate is seen, empty: it is not; and whether a mark might have held if it had a time.
func (d *Double) why(told doubled, one doubledItem, asked []string) (why string, undated bool) {
	facts := d.seen[[2]string{told.Collection, told.User.String()}][one.ID.String()]
	for _, fact := range asked {
		if facts[fact] {
			why, _, _ = strings.Cut(fact, " ")
		}
	}
	always := false
	for _, group := range one.Of {
		mark, marked := d.marks[told.User.String()][group]
		forEver := marked && mark.Until.Equal(Always)
		always = always || forEver
		undated = undated || marked && one.At == nil
		if why == "" && marked && (forEver || one.At != nil && *one.At <= mark.Until.UnixMilli()) {
			why = "mark:" + group
		}
	}
	return why, undated && !always
}

func (d *Double) filter(told doubled, packed bool) (*http.Response, error) {
	asked, met, excluded, reasons := d.asked(told), map[string]bool{}, map[string]bool{}, map[string]string{}
	for _, one := range told.Exclude {
		excluded[one.String()] = true
	}
	for i, name := range told.ExcludeSets {
		if d.sets[name] == nil {
			return d.refuse(http.StatusNotFound, "not_found", "/exclude_sets/"+strconv.Itoa(i))
		}
	}
	counts := map[string]int{"seen": 0, "examined": 0, "excluded": 0, "duplicates": 0, "undated": 0}
	unseen, bits := []string{}, make([]byte, (len(told.Items)+7)/8)
	for i, item := range told.Items {
		if told.Limit > 0 && len(unseen) == told.Limit {
			break
		}
		text := item.ID.String()
		why, undated := d.why(told, item, asked)
		counts["examined"]++
		if undated {
			counts["undated"]++
		}
		switch {
		case met[text]:
			counts["duplicates"]++
		case excluded[text]:
			counts["excluded"]++
		case d.setOf(told, text) != "":
			counts["excluded"]++
			reasons[text] = "set:" + d.setOf(told, text)
		case why != "":
			counts["seen"]++
			reasons[text] = why
		default:
			unseen = append(unseen, text)
			bits[i/8] |= 1 << (i % 8)
		}
		met[text] = true
	}
	if told.Record {
		for _, one := range unseen {
			d.note(told, told.User, one, "impression")
		}
	}
	answer := map[string]any{"unseen": unseen, "degraded": d.degraded}
	header := http.Header{"Seendb-Degraded": {"0"}, "Seendb-Recorded": {strconv.FormatBool(told.Record)}}
	if d.degraded {
		answer["missing"] = []string{"double"}
		header["Seendb-Degraded"], header["Seendb-Missing"] = []string{"1"}, []string{"double"}
	}
	if told.Explain {
		answer["reasons"] = reasons
	}
	for name, count := range counts {
		answer[name] = count
		header.Set("SeenDB-"+name, strconv.Itoa(count))
	}
	if packed {
		return d.say(bits, header)
	}
	return d.say(answer, header)
}

func (d *Double) mark(method, user, group string, body []byte, query url.Values) (*http.Response, error) {
	own := d.marks[user]
	switch method {
	case "DELETE":
		_, marked := own[group]
		delete(own, group)
		return d.say(map[string]any{"deleted": marked}, nil)
	case "POST":
		var mark Mark
		if err := json.Unmarshal(body, &mark); err != nil {
			return nil, err
		}
		if own == nil {
			own = map[string]Mark{}
			d.marks[user] = own
		}
		if before, marked := own[mark.Group]; !marked || before.Until.Before(mark.Until) {
			own[mark.Group] = mark
		}
		return d.say(map[string]any{"accepted": 1, "refused": 0, "refusals": []any{}}, nil)
	}
	page, marks := map[string]any{}, []any{}
	for _, name := range pageIn(sorted(own), query, page) {
		told := map[string]any{"group": name, "until": own[name].Until.UnixMilli(), "at": own[name].At.UnixMilli()}
		if own[name].Until.Equal(Always) {
			told["until"] = "always"
		}
		marks = append(marks, told)
	}
	page["marks"] = marks
	return d.say(page, nil)
}

// setOf names the first set that has an item; empty: none.
func (d *Double) setOf(told doubled, item string) string {
	for _, name := range told.ExcludeSets {
		if d.sets[name][item] {
			return name
		}
	}
	return ""
}

func (d *Double) set(method, name string, named bool, told doubled, query url.Values) (*http.Response, error) {
	info := func(name string) map[string]any {
		return map[string]any{"name": name, "count": len(d.sets[name]), "bytes": 0, "at": 0}
	}
	if !named {
		sets := []any{}
		for _, name := range sorted(d.sets) {
			sets = append(sets, info(name))
		}
		return d.say(map[string]any{"sets": sets}, nil)
	}
	if method == "PUT" {
		d.sets[name] = map[string]bool{}
		for _, line := range told.Events {
			for _, id := range line.Items {
				d.sets[name][id.String()] = true
			}
		}
	}
	answer := info(name)
	switch ids := sorted(d.sets[name]); {
	case d.sets[name] == nil:
		return d.refuse(http.StatusNotFound, "not_found", "")
	case method == "DELETE":
		delete(d.sets, name)
	case method == "GET":
		answer["items"] = pageIn(ids, query, answer)
	}
	return d.say(answer, nil)
}

func sorted[V any](of map[string]V) []string {
	names := []string{}
	for name := range of {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// pageIn is a page of names; a cursor where there are more goes to the answer.
func pageIn(names []string, query url.Values, answer map[string]any) []string {
	begin, _ := strconv.Atoi(query.Get("cursor"))
	limit, _ := strconv.Atoi(query.Get("limit"))
	if begin+limit >= len(names) {
		return names[begin:]
	}
	answer["cursor"] = strconv.Itoa(begin + limit)
	return names[begin : begin+limit]
}

func (d *Double) item(method, name string, told doubled) (*http.Response, error) {
	found := []any{}
	for _, id := range told.IDs {
		version, fields := int64(0), map[string]json.RawMessage{}
		left := false
		for field, one := range d.items[id.String()] {
			if one.version > version {
				version = one.version
			}
			if left = left || one.value != nil; one.value != nil && (len(told.Fields) == 0 || contains(told.Fields, field)) {
				fields[field] = one.value
			}
		}
		if left {
			found = append(found, map[string]any{"id": id, "version": version, "fields": fields})
		}
	}
	if name == "get" || method == "PUT" {
		return d.say(map[string]any{"items": found}, nil)
	}
	stale := 0
	for _, one := range told.Items {
		kept := d.items[one.ID.String()]
		if kept == nil {
			kept = map[string]doubledValue{"": {}}
			d.items[one.ID.String()] = kept
		}
		if one.Set == nil {
			one.Set = map[string]json.RawMessage{}
		}
		for _, field := range one.Unset {
			one.Set[field] = nil
		}
		for field, value := range one.Set {
			before, known := kept[field]
			if !known {
				before = kept[""]
			}
			if before.version > one.Version {
				stale++
			} else {
				kept[field] = doubledValue{one.Version, value}
			}
		}
		for field, before := range kept {
			if (one.Replace || one.Delete) && before.version < one.Version {
				kept[field] = doubledValue{one.Version, nil}
			}
		}
	}
	return d.say(map[string]any{"accepted": len(told.Items), "stale": stale, "refused": 0, "refusals": []any{}}, nil)
}

func (d *Double) say(body any, header http.Header) (*http.Response, error) {
	text, isBits := body.([]byte)
	if !isBits {
		text, _ = json.Marshal(body)
	}
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(bytes.NewReader(text))}, nil
}

func (d *Double) refuse(status int, code, field string) (*http.Response, error) {
	got, err := d.say(map[string]any{"error": map[string]any{"code": code, "message": "of a double", "field": field}}, nil)
	got.StatusCode = status
	return got, err
}
