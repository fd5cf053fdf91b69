package forged

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
)

// Variants yields files that each differ from f in one thing, with a description of the difference.
func (f *File) Variants() iter.Seq2[string, *File] {
	return func(yield func(string, *File) bool) {
		for what, header := range headerVariants(f.Header) {
			if !yield("header "+what, &File{header, f.Sections}) {
				return
			}
		}
		for i, s := range f.Sections {
			for what, body := range sectionVariants(s.Body) {
				sections := slices.Clone(f.Sections)
				sections[i].Body = body
				if !yield("section "+s.Name+what, &File{f.Header, sections}) {
					return
				}
			}
			without := slices.Delete(slices.Clone(f.Sections), i, i+1)
			renamed, swapped := slices.Clone(f.Sections), slices.Clone(f.Sections)
			renamed[i].Name = "x"
			next := (i + 1) % len(swapped)
			swapped[i].Body, swapped[next].Body = swapped[next].Body, swapped[i].Body
			if !yield("section "+s.Name+" dropped", &File{f.Header, without}) ||
				!yield("section "+s.Name+" renamed", &File{f.Header, renamed}) ||
				!yield("section "+s.Name+" twice", &File{f.Header, append(slices.Clone(f.Sections), s)}) ||
				!yield("section "+s.Name+" for "+swapped[next].Name, &File{f.Header, swapped}) {
				return
			}
		}
	}
}

func replacementJSONValues() []any {
	return []any{
		nil, "", []any{}, map[string]any{}, 0, -1, 1, 1.5, json.Number("9223372036854775807"), json.Number("-9223372036854775808"), json.Number("1e300"),
		"0", "-1", "9223372036854775807", "1e300", "NaN", "+Inf", "a\x00\n\u202e", strings.Repeat("9", 1<<16), true,
	}
}

func headerVariants(text []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for what, broken := range map[string][]byte{"empty": {}, "cut": text[:len(text)/2], "null": []byte("null"), "list": []byte("[]"), "nested": bytes.Repeat([]byte("["), 1<<16), "followed": append(bytes.Clone(text), "{}"...)} {
			if !yield(what, broken) {
				return
			}
		}
		var tree map[string]any
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&tree); err != nil {
			panic(err) // Open read a valid file
		}
		emit := func(what string) bool {
			b, err := json.Marshal(tree)
			if err != nil {
				panic(err)
			}
			return yield(what, b)
		}
		emitVariants(tree, "", emit)
	}
}

// emitVariants changes one part of a tree of decoded JSON after the other. It calls emit with a description after each
// change, and then undoes the change. It stops if emit returns false.
func emitVariants(tree any, place string, emit func(what string) bool) bool {
	each := func(path string, value any, set func(any)) bool {
		path = place + "." + path
		if !emitVariants(value, path, emit) {
			return false
		}
		for _, other := range replacementJSONValues() {
			set(other)
			if text := fmt.Sprint(other); !emit(fmt.Sprintf("%s = %T %.30q", path, other, text)) {
				return false
			}
		}
		if list, isList := value.([]any); isList && len(list) > 0 {
			swapped := slices.Clone(list)
			slices.Reverse(swapped)
			for what, other := range map[string][]any{
				" first only": list[:1], " less the last": list[:len(list)-1], " with the first twice": append(slices.Clone(list), list[0]), " in reverse": swapped,
			} {
				set(other)
				if !emit(path + what) {
					return false
				}
			}
		}
		set(value)
		return true
	}
	switch tree := tree.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(tree)) {
			value := tree[key]
			if !each(key, value, func(other any) { tree[key] = other }) {
				return false
			}
			delete(tree, key)
			if !emit(place + "." + key + " deleted") {
				return false
			}
			tree[key] = value
		}
		tree["unheard of"] = 1
		defer delete(tree, "unheard of")
		return emit(place + ".unheard of")
	case []any:
		for _, i := range slices.Compact([]int{0, len(tree) - 1}) {
			if len(tree) > 0 && !each(fmt.Sprint(i), tree[i], func(other any) { tree[i] = other }) {
				return false
			}
		}
	}
	return true
}

// sectionVariants yields variants of a section, each with a description. A variant has another length, or another value
// in one word. If there are many words, only the first and some of the others are changed.
func sectionVariants(body []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for what, other := range map[string][]byte{
			" empty": {}, " cut in half": body[:len(body)/2], " less a word": body[:max(len(body)-8, 0)], " less a byte": body[:max(len(body)-1, 0)],
			" with a word more": append(bytes.Clone(body), make([]byte, 8)...), " twice as long": append(bytes.Clone(body), body...),
			" of zeros": make([]byte, len(body)), " of ones": bytes.Repeat([]byte{0xFF}, len(body)),
		} {
			if !yield(what, other) {
				return
			}
		}
		const begin, most = 24, 96
		n := len(body) / 8
		step := max((n-begin)/most, 1)
		for i := 0; i < n; i++ {
			if i > begin && (i-begin)%step != 0 {
				continue
			}
			for _, word := range []uint64{
				0, 1, 2, 1 << 20, 1 << 32, 1 << 48, math.MaxInt64, 1 << 63, math.MaxUint64,
				math.Float64bits(math.NaN()), math.Float64bits(math.Inf(1)), math.Float64bits(math.Inf(-1)), math.Float64bits(-1), math.Float64bits(1), math.Float64bits(1e300), math.Float64bits(1e-300),
			} {
				other := bytes.Clone(body)
				binary.LittleEndian.PutUint64(other[8*i:], word)
				if !yield(fmt.Sprintf(" word %d = %#x", i, word), other) {
					return
				}
			}
		}
	}
}
