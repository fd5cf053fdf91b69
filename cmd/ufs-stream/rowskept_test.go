package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/stream"
)

// keptRows scans with the given flags in three shards that keep rows, and merges them.
func keptRows(t *testing.T, rows int, flags ...string) string {
	t.Helper()
	at := folder(t)
	all := at("all.ufs")
	merge := []string{"merge", "-o", all}
	for i := range 3 {
		part := at(fmt.Sprintf("%d.ufs", i))
		must(t, append([]string{"scan", "--profile-only", "--sample-rows", strconv.Itoa(rows), "--shard", fmt.Sprintf("%d/3", i+1), "-o", part}, flags...)...)
		merge = append(merge, part)
	}
	must(t, merge...)
	return all
}

// ofRows encodes a selection without its input. It also omits warnings: columns that nearly determine the label are
// found in all scanned rows from statistics, but only in the rows read from data.
func ofRows(t *testing.T, s *stream.Selection) string {
	t.Helper()
	s.Passes, s.Warnings = 0, nil
	s.Suspects = slices.DeleteFunc(s.Suspects, func(l stream.LeftOut) bool { return strings.HasPrefix(l.Why, "nearly determines") })
	slices.SortFunc(s.LeftOut, func(a, b stream.LeftOut) int { return cmp.Compare(a.Name, b.Name) })
	return answer(t, s)
}

// TestKeptRowsGiveTheAnswerOfTheData: real tables with missing values of every kind and sparse
// rows, and options of reading; a selection from kept rows is the record of one of the data, so
// that its options give the same answer and eval selects again by them.
func TestKeptRowsGiveTheAnswerOfTheData(t *testing.T) {
	planted, _ := plant(t, 900, 2)
	messy := fixtures.DatasetPath(t, "messy.parquet")
	sparse := fixtures.DatasetPath(t, "basehock_sparse.parquet")
	for i, c := range []struct{ reading, choosing string }{
		{planted, "--method eufs --clusters 3 --max-iter 4 --graph anchor --anchors 40"},
		{planted + " --seed 5 --label x000 --exclude x04*", "--method hufs --clusters 3 --max-iter 4 --tree correlation --alpha 0.1x"},
		{planted + " --where x000>0", "--method cpufs --shape 5x10 --max-iter 3 --neighbors 3"},
		{planted + " --where x000>0", "--method cpufsnn --shape 5x10 --max-iter 3 --graph anchor --anchors 30"},
		{messy + " --label label --missing mean", "--method eufs --clusters 3 --max-iter 4"},
		{messy + " --label label --missing drop-row", "--method eufs --clusters 3 --max-iter 4"},
		{sparse + " --sparse indices,values,4862", "--method eufs --clusters 2 --max-iter 2 --graph none"},
	} {
		if !long.TakesCase(i, 2) {
			continue
		}
		reading, choosing := strings.Fields(c.reading), append(strings.Fields(c.choosing), "-k", "6")
		all := keptRows(t, 300, reading...)
		want := selection(t, slices.Concat(reading, choosing, []string{"--sample", "300"})...)
		got := selection(t, append(choosing, "--stats", all)...)
		if ofRows(t, got) != ofRows(t, want) {
			t.Errorf("%v: %v and %v differ", c, marshal(t, got.Selected), marshal(t, want.Selected))
		}
		want = selection(t, slices.Concat(reading, choosing, []string{"--sample", "120"})...)
		got = selection(t, append(choosing, "--stats", all, "--sample", "120")...)
		if ofRows(t, got) != ofRows(t, want) {
			t.Errorf("%v: %v and %v differ by 120 rows", c, marshal(t, got.Selected), marshal(t, want.Selected))
		}
		if reading[0] != planted {
			continue
		}
		sel := filepath.Join(t.TempDir(), "sel.json")
		must(t, append([]string{"select", "--stats", all, "-o", sel}, choosing...)...)
		s := readSelection(t, sel)
		again := []string{planted, "-k", strconv.Itoa(s.K), "--method", s.Method, "--seed", fmt.Sprint(s.Seed)}
		for flag, value := range s.Options {
			if flag != "alpha_max" {
				again = append(again, "--"+flag, fmt.Sprint(value))
			}
		}
		if b := selection(t, again...); ofRows(t, b) != ofRows(t, s) {
			t.Errorf("%v: %v give another answer", c, again)
		}
		if out := must(t, "eval", planted, "--selection", sel, "--resamples", "2", "--baselines", "none"); !strings.Contains(out, "stability") {
			t.Errorf("%v: no stability:\n%s", c, out)
		}
	}
}

// TestPathOfKeptRows: every setting of a grid has the answer that it has on the data.
func TestPathOfKeptRows(t *testing.T) {
	in, _ := plant(t, 900, 2)
	all := keptRows(t, 200, in)
	for _, args := range []string{
		"--method eufs --clusters 3 --max-iter 4 --alpha 0.1x,0.5x --beta 0.1,1",
		"--method hufs --clusters 3 --max-iter 4 --beta 0.1x,0.5x",
	} {
		flags := append(strings.Fields(args), "-k", "6", "--format", "json")
		want := decoded[stream.Grid](t, "path", append(flags, in, "--sample", "200")...)
		got := decoded[stream.Grid](t, "path", append(flags, "--stats", all)...)
		if a, b := marshal(t, got.Settings), marshal(t, want.Settings); a != b || got.Rows != want.Rows || got.RowsUsed != want.RowsUsed {
			t.Errorf("%s: %d of %d rows, want %d of %d:\n%s\n%s", args, got.RowsUsed, got.Rows, want.RowsUsed, want.Rows, a, b)
		}
	}
	ends(t, exit.Usage, "select with each", "path", "--method", "cpufs", "--shape", "5x10", "--stats", all)
}

// TestSizeOfParts: eight parts take together little more than one file of all.
func TestSizeOfParts(t *testing.T) {
	in, _ := plant(t, 8000, 4)
	at := folder(t)
	size := func(path string) int64 {
		t.Helper()
		return int64(len(read(t, path)))
	}
	for _, flags := range [][]string{{"--sample-rows", "1000"}, {"--method", "sfufs", "--anchors", "500"}} {
		scan := append([]string{"scan", in, "--profile-only"}, flags...)
		must(t, append(scan, "-o", at("one.ufs"))...)
		var parts int64
		for i := range 8 {
			part := at(fmt.Sprintf("%d.ufs", i))
			must(t, append(scan, "--shard", fmt.Sprintf("%d/8", i+1), "-o", part)...)
			parts += size(part)
		}
		must(t, "merge", at("*.ufs")[:len(at("*.ufs"))-5]+"[0-7].ufs", "-o", at("all.ufs"))
		if one, all := size(at("one.ufs")), size(at("all.ufs")); all != one {
			// The profile's sums are rounded otherwise, and may be packed a little otherwise.
			if diff := all - one; diff < -2000 || diff > 2000 {
				t.Errorf("%v: merged %d bytes, scanned at once %d", flags, all, one)
			}
		}
		// 37 % and 55 % more rows than the sample has, and each part has a profile.
		if one := size(at("one.ufs")); parts > 2*one {
			t.Errorf("%v: parts of %d bytes in all, one file of %d", flags, parts, one)
		}
	}
}
