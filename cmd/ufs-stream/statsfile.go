package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// The sections of a statistics file: every one has the profile, and files of kind
// "gram" the moments too.
const (
	profileSection = "profile"
	momentsSection = "moments"

	kindGram    = "gram"
	kindProfile = "profile"
)

// writeStats writes e as a statistics file.
func (e *evidence) writeStats(path string) error {
	h := chunkio.StatsHeader{
		Kind: kindProfile, Version: release, Columns: e.columns, LeftOut: e.leftOut, Decided: e.decided,
		Options: e.options, Inputs: e.inputs, Ranges: e.covered, Warnings: e.warnings,
	}
	sections := []chunkio.Section{{Name: profileSection, Body: e.profile}}
	if e.moments != nil {
		h.Kind = kindGram
		sections = append(sections, chunkio.Section{Name: momentsSection, Body: e.moments})
	}
	return chunkio.WriteStats(path, h, sections...)
}

// readStats reads a statistics file. With need needGram it must have the moments,
// which may hold limit bytes; else they are not read.
func readStats(path string, n need, opt gram.Options) (*evidence, error) {
	r, err := chunkio.OpenStats(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	h := r.Header
	if h.Kind != kindGram && h.Kind != kindProfile {
		return nil, stream.Usagef("%s holds a %s, not statistics to select from", path, h.Kind)
	}
	e := &evidence{
		kind: h.Kind, columns: h.Columns, leftOut: h.LeftOut, decided: h.Decided, inputs: h.Inputs,
		covered: h.Ranges, options: h.Options, warnings: h.Warnings,
	}
	if n == needGram && h.Kind != kindGram {
		return nil, stream.Usagef("%s holds a profile only, which cannot tell how columns belong together; make Gram statistics: ufs-stream scan INPUT… -o FILE.ufs", path)
	}
	if n == needGram {
		e.moments = gram.NewMoments(len(e.columns), opt)
		e.profile = &e.moments.Profile
		err = readSection(r, path, momentsSection, e.moments)
	} else {
		e.profile = gram.NewProfile(len(e.columns))
		err = readSection(r, path, profileSection, e.profile)
	}
	return e, err
}

// readMoments reads the moments of a statistics file or checkpoint.
func readMoments(path string, m *gram.Moments) error {
	r, err := chunkio.OpenStats(path)
	if err != nil {
		return err
	}
	defer r.Close()
	return readSection(r, path, momentsSection, m)
}

// readSection reads a section to its very end, where its checksum is verified.
func readSection(r *chunkio.StatsReader, path, name string, to io.ReaderFrom) error {
	body, err := r.SectionReader(name)
	if err != nil {
		return err
	}
	if _, err := to.ReadFrom(body); err != nil {
		return fmt.Errorf("%s: section %q: %w", path, name, err)
	}
	var one [1]byte
	switch _, err := io.ReadFull(body, one[:]); err {
	case io.EOF:
		return nil
	case nil:
		return stream.Dataf(path, "section %q is longer than its contents", name)
	default:
		return err
	}
}

// part is a run of rows of one file that statistics cover.
type part struct {
	file     fileID
	from, to int64 // within the file
}

// fileID tells files apart wherever they are kept. Copies of one file that were read
// in the same run count up; a stream whose digest is not known has no ID.
type fileID struct {
	fingerprint string
	copy        int
}

// parts lists what e covers, file by file, and the inputs by ID.
func (e *evidence) parts() (parts []part, files map[fileID]stream.Input, order []fileID) {
	copies := make(map[string]int)
	files = make(map[fileID]stream.Input)
	var start int64
	for _, in := range e.inputs {
		id := fileID{in.Fingerprint, copies[in.Fingerprint]}
		copies[in.Fingerprint]++
		files[id] = in
		order = append(order, id)
		for _, r := range e.covered {
			from, to := max(r.From, start), min(r.To, start+in.Rows)
			if from < to {
				parts = append(parts, part{id, from - start, to - start})
			}
		}
		start += in.Rows
	}
	return parts, files, order
}

// join adds what o covers to what e covers and renumbers the rows over the files of
// both. Rows that both cover are an error.
func (e *evidence) join(o *evidence) error {
	own, files, order := e.parts()
	other, otherFiles, otherOrder := o.parts()
	for _, a := range own {
		for _, b := range other {
			if a.file == b.file && a.from < b.to && b.from < a.to {
				return fmt.Errorf("both cover rows %d to %d of %s", max(a.from, b.from), min(a.to, b.to)-1, files[a.file].Path)
			}
		}
	}
	for _, id := range otherOrder {
		if _, known := files[id]; !known {
			files[id] = otherFiles[id]
			order = append(order, id)
		}
	}
	start := make(map[fileID]int64, len(order))
	e.inputs = nil
	var rows int64
	for _, id := range order {
		e.inputs = append(e.inputs, files[id])
		start[id] = rows
		rows += files[id].Rows
	}
	e.covered = nil
	for _, p := range append(own, other...) {
		e.covered = append(e.covered, stream.Range{From: start[p.file] + p.from, To: start[p.file] + p.to})
	}
	e.covered = unite(e.covered)
	return nil
}

// unite sorts disjoint ranges and joins those that touch.
func unite(ranges []stream.Range) []stream.Range {
	slices.SortFunc(ranges, func(a, b stream.Range) int { return int(min(max(a.From-b.From, -1), 1)) })
	var out []stream.Range
	for _, r := range ranges {
		if n := len(out); n > 0 && out[n-1].To == r.From {
			out[n-1].To = r.To
			continue
		}
		out = append(out, r)
	}
	return out
}

// coveredRows is the number of rows that the statistics cover.
func (e *evidence) coveredRows() (rows int64) {
	for _, r := range e.covered {
		rows += r.To - r.From
	}
	return rows
}
