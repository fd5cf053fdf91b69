package intake

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

func zipped(t testing.TB, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	must.Get(w.Write([]byte(s)))(t)
	must.Do(t, w.Close())
	return b.String()
}

// TestRecognize: other files in a folder of data are no tables, and tables whose name shows no format are.
func TestRecognize(t *testing.T) {
	wide := strings.Repeat(",0.123456789", 3000) + "\n"
	for name, c := range map[string]struct {
		text string
		want Format
	}{
		"csv":               {"a,b\n1,2\n3,4\n", CSV},
		"one row":           {"a,b\n1,2\n", CSV},
		"no last line feed": {"a,b\n1,2\n3,4", CSV},
		"no header":         {"1.5,NA\n2.5,3\n", CSV},
		"tabs":              {"id\tx\nu1\t0.5\nu2\t\n", CSV},
		"semicolons":        {"a;b\r\n1,5;2\r\n1,6;3\r\n", CSV},
		"a word or two":     {"id,x\n1,?\n2,3\n3,4\n", CSV},
		"quoted":            {"id,x\n\"a, b\",2\n\"c\nd\",4\n", CSV},
		"Latin-1":           {"name,x\nMalm\xf6,2\nLund,3\n", CSV},
		"byte order mark":   {"\xEF\xBB\xBFa,b\n1,2\n", CSV},
		"long rows":         {"y" + strings.ReplaceAll(wide, "0.123456789", "x") + strings.Repeat("1"+wide, 4), CSV},
		"zipped":            {zipped(t, "a,b\n1,2\n3,4\n"), CSV},
		"ndjson":            {"{\"a\":1}\n{\"a\":2}\n", NDJSON},
		"zipped ndjson":     {zipped(t, "{\"a\":1}\n\n{\"a\":2}\n"), NDJSON},

		"empty":          {"", None},
		"blank":          {" \n\n", None},
		"prose":          {"This data, with love, is free.\nIt was made by hand, in 2020.\n\nFiles: a.csv\n", None},
		"even prose":     {"Dear all, hello\nyours, me\nnever, mind\n", None},
		"license":        {"MIT License\n\nCopyright (c) 2020, me\n\nPermission is hereby granted, free of charge, to any person\n", None},
		"markdown":       {"# Data\n\n| file | rows |\n|---|---|\n| a | 7 |\n", None},
		"checksums":      {"d41d8cd98f00b204e9800998ecf8427e  a.parquet\n0cc175b9c0f1b6a831c399e269772661  b.parquet\n", None},
		"one column":     {"label\n1\n2\n", None},
		"blanks between": {"1 2 3\n4 5 6\n", None},
		"ragged":         {"a,b\n1,2\n3,4,5\n", None},
		"words":          {"key,word\na,b\nc,d\n", None},
		"settings":       {"{\"name\": \"x\", \"rows\": 7}\n", None},
		"pretty":         {"{\n \"schema\": \"ufs-stream/selection/v1\",\n \"k\": 3\n}\n", None},
		"array":          {"[{\"a\":1},{\"a\":2}]\n", None},
		"plan":           {"{\"schema\":\"ufs-stream/plan/v1\",\"files\":[\n{\"path\":\"a\"},\n{\"path\":\"b\"}\n]}\n", None},
		"html":           {"<!doctype html>\n<p>1,2\n<p>3,4\n", None},
		"a checksum":     {"crc\x00\x00\x00\x02\x00", None},
		"a bell":         {"a,b\n1,\a2\n", None},
		"an image":       {"\x89PNG\r\n\x1a\n\x00\x00", None},
		"orc":            {"ORC\n\v\n\x03", None},
		"zipped prose":   {zipped(t, "hello, world\n"), None},
		"broken zip":     {"\x1f\x8b\x08", None},
	} {
		head, n := []byte(c.text), RecognizeBytes
		got, more := recognizeHead(head, n)
		if more {
			got, _ = recognizeHead(head, RecognizeMost)
		}
		if got != c.want {
			t.Errorf("%s: %.60q is %v, want %v", name, c.text, got, c.want)
		}
	}
}

func recognizeHead(file []byte, n int) (f Format, more bool) {
	head := file[:min(n, len(file))]
	return Recognize(UnpackHead(head, SniffPacking(head), len(file) <= n))
}

// TestRecognizeAnyHead: a table is one by its first 16 KiB, wherever these end.
func TestRecognizeAnyHead(t *testing.T) {
	var csv, json strings.Builder
	csv.WriteString("id,\"x, or y\",z\n")
	for i := range 40 {
		fmt.Fprintf(&csv, "\"u\n%d\",%d,%d\n", i, i, i*i)
		fmt.Fprintf(&json, "{\"id\":\"u%d\",\"x\":%d}\n", i, i)
	}
	for want, text := range map[Format]string{CSV: csv.String(), NDJSON: json.String()} {
		for n := 60; n < len(text); n++ {
			if got, more := Recognize([]byte(text[:n]), false); got != want {
				t.Errorf("the first %d bytes are %v (more %v), want %v", n, got, more, want)
			}
		}
	}
}

// FuzzRecognize: no bytes are too strange, and recognized text has no zero byte.
func FuzzRecognize(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "{\"a\":1}\n{\"a\":2}\n", "\"", "a,\"b\n", zipped(f, "a,b\n1,2\n"), "\x28\xB5\x2F\xFD\x00", "BZh91AY&SY", "\xff\xfea\x00"} {
		f.Add([]byte(s), true)
		f.Add([]byte(s), false)
	}
	f.Fuzz(func(t *testing.T, head []byte, whole bool) {
		packing := SniffPacking(head)
		text, wholeText := UnpackHead(head, packing, whole)
		got, more := Recognize(text, wholeText)
		if more && wholeText {
			t.Errorf("%q is whole, and more is wanted", head)
		}
		if (got == CSV || got == NDJSON) && packing == "" && bytes.IndexByte(head, 0) >= 0 {
			t.Errorf("%q is text", head)
		}
	})
}
