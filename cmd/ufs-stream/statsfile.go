package main

import (
	"io"

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
		return stream.Dataf(path, "section %q: %w", name, err)
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
