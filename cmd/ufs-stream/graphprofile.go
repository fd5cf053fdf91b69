package main

import (
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// drawnBefore is what --profile holds, of the columns that take part.
func (p *pass) drawnBefore(ds *chunkio.Dataset) (*drawn, error) {
	r, by := p.g.req, p.g.req.by
	var err error
	if p.opt.LeaveOut, err = p.g.decisions(ds); err != nil {
		return nil, err
	}
	d := &drawn{profile: &gram.Profile{Rows: by.profile.Rows, Seen: by.profile.Seen, Weight: by.profile.Weight}, sample: by.sample}
	wanted := make([]bool, len(by.columns))
	holes := by.profile.Rows != by.profile.Seen
	for j, col := range by.columns {
		if slices.ContainsFunc(p.opt.LeaveOut, func(l stream.LeftOut) bool { return l.Name == col.Name }) {
			continue
		}
		wanted[j] = true
		d.columns = append(d.columns, col)
		d.profile.Columns = append(d.profile.Columns, by.profile.Columns[j])
		holes = holes || by.profile.Columns[j].Missing.Total() > 0
	}
	// Dropped rows must neither scale nor be anchors, and kept rows must.
	if drop := p.opt.Missing == stream.MissingDropRow; holes && drop != (by.options["missing"] == "drop-row") {
		return nil, stream.Usagef("--missing %s: --profile was made under another policy, so of other rows; make it with --profile-only --method %s --missing %[1]s",
			r.input.missing.value, r.chosen.name)
	}
	asked := r.input.shape(r.limits.seed)
	for _, flag := range []string{"rows", "sparse"} {
		if asked[flag] != by.options[flag] {
			return nil, stream.Usagef("--%s %q, but --profile was made with %q; make both alike", flag, asked[flag], by.options[flag])
		}
	}
	if r.method.graph.file != "" {
		return d, nil
	}
	return d, r.reuse(d, wanted)
}

// reuse makes the sample of --profile that which a profile pass would draw now, from the
// columns that are wanted.
func (r *request) reuse(d *drawn, wanted []bool) error {
	again := "--profile-only --method " + r.chosen.name
	if d.sample == nil {
		return stream.Usagef("--profile has no sample of rows to take anchors from; make it with %s", again)
	}
	if seed := d.sample.Seed(); seed != r.limits.seed {
		return stream.Usagef("--seed %d: the rows of --profile were drawn with --seed %d; make it with %s --seed %[1]d", r.limits.seed, seed, again)
	}
	m := r.expectedAnchors(d.profile.Seen)
	rows := r.sampleRows(m, len(d.columns))
	if kept := d.sample.Rows(); kept < rows {
		return stream.Usagef("--profile keeps %d rows to take anchors from, and %d are wanted for --anchors %d --anchor-method %s; make it with %s and these flags",
			kept, rows, m, r.method.graph.drawn.value, again)
	}
	// A copy, as another attempt may follow. Merging keeps the smaller number of rows.
	all := d.sample
	d.sample = anchor.NewSampler(len(wanted), anchor.SamplerOptions{Rows: rows, Seed: r.limits.seed})
	err := d.sample.Merge(all)
	d.sample.Keep(wanted)
	return err
}
