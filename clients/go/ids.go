package seendb

import (
	"encoding/binary"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// ID is a user or an item: text of 1-255 bytes of UTF-8, or an integer of 64 bits. Text("42") and
// Number(42) are one id, and equal where they are compared by String.
type ID struct {
	text     string
	number   uint64
	isNumber bool
}

// Text makes an id of text.
func Text(text string) ID { return ID{text: text} }

// Number makes an id of an integer.
func Number(number uint64) ID { return ID{number: number, isNumber: true} }

// Texts makes ids of texts.
func Texts(texts ...string) []ID {
	ids := make([]ID, len(texts))
	for i, text := range texts {
		ids[i] = Text(text)
	}
	return ids
}

// Numbers makes ids of integers.
func Numbers(numbers ...uint64) []ID {
	ids := make([]ID, len(numbers))
	for i, number := range numbers {
		ids[i] = Number(number)
	}
	return ids
}

// String is the id as text.
func (id ID) String() string {
	if id.isNumber {
		return strconv.FormatUint(id.number, 10)
	}
	return id.text
}

const safeMost = 1<<53 - 1

// MarshalJSON writes integers as JSON's numbers; those that a double does not hold as text, which is the
// same id.
func (id ID) MarshalJSON() ([]byte, error) {
	if id.isNumber && id.number <= safeMost {
		return strconv.AppendUint(nil, id.number, 10), nil
	}
	return json.Marshal(id.String())
}

// UnmarshalJSON reads either.
func (id *ID) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] != '"' {
		number, err := strconv.ParseUint(string(text), 10, 64)
		*id = Number(number)
		return err
	}
	*id = ID{}
	return json.Unmarshal(text, &id.text)
}

const idBytesMost = 255

func (id ID) check(field string) error {
	switch {
	case id.isNumber:
		return nil
	case len(id.text) == 0 || len(id.text) > idBytesMost:
		return refuse(field, "an id has 1 to %d bytes of UTF-8, not %d", idBytesMost, len(id.text))
	case !utf8.ValidString(id.text):
		return refuse(field, "an id is not UTF-8")
	}
	return nil
}

func checkAll(ids []ID, field string) error {
	for i, id := range ids {
		if err := id.check(field + "/" + strconv.Itoa(i)); err != nil {
			return err
		}
	}
	return nil
}

// packed appends integers as 8 bytes each; false where one is text.
func packed(to []byte, ids []ID) ([]byte, bool) {
	for _, id := range ids {
		if !id.isNumber {
			return nil, false
		}
		to = binary.LittleEndian.AppendUint64(to, id.number)
	}
	return to, true
}
