package ufs

import (
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

func (p *pass) anchorDataFromProfile(ds *chunkio.Dataset) (*anchorData, error) {
	r, whole := p.gatherer.run, p.gatherer.wholeProfile
	var err error
	if p.opt.LeaveOut, err = p.gatherer.matchingLeftOut(ds); err != nil {
		return nil, err
	}
	d := &anchorData{profile: &gram.Profile{Rows: whole.profile.Rows, Seen: whole.profile.Seen, Weight: whole.profile.Weight}, sample: whole.sample}
	wanted := make([]bool, len(whole.columns))
	holes := whole.profile.Rows != whole.profile.Seen && whole.options["where"] == "" // {where} excludes rows that Seen counts
	for j, col := range whole.columns {
		if slices.ContainsFunc(p.opt.LeaveOut, func(l stream.LeftOut) bool { return l.Name == col.Name }) {
			continue
		}
		wanted[j] = true
		d.columns = append(d.columns, col)
		d.profile.Columns = append(d.profile.Columns, whole.profile.Columns[j])
		holes = holes || whole.profile.Columns[j].Missing.Total() > 0
	}
	// Rows that the policy drops must affect neither the scaling nor the anchors; all other rows must affect both.
	if drop := p.opt.Missing == stream.MissingDropRow; holes && drop != (whole.options["missing"] == missingDropRow) {
		return nil, stream.Usagef("{missing} %s: {profile} was made under another policy, so of other rows; make it with {profile-only} {method} %s {missing} %[1]s",
			r.Missing, r.Name)
	}
	shape := r.statisticsShape()
	for _, option := range append([]string{"rows", "sparse", "where"}, columnOptionNames()...) {
		if shape[option] != whole.options[option] {
			return nil, stream.Usagef("%v %q, but {profile} was made with %q; make both alike", stream.Option(option), shape[option], whole.options[option])
		}
	}
	if r.Anchors.File != "" {
		return d, nil
	}
	return d, r.reuseSample(d, wanted)
}

// reuseSample reduces the sample of a scanned profile to the rows that a profile pass over the wanted columns would
// draw now.
func (r *run) reuseSample(d *anchorData, wanted []bool) error {
	remedy := stream.Textf("{profile-only} {method} %s", r.Name)
	if d.sample == nil {
		return stream.Usagef("{profile} has no sample of rows to take anchors from; make it with %s", remedy)
	}
	if seed := d.sample.Seed(); seed != r.Seed {
		return stream.Usagef("{seed} %d: the rows of {profile} were drawn with {seed} %d; make it with %s {seed} %[1]d", r.Seed, seed, remedy)
	}
	m := r.expectedAnchors(d.profile.Seen)
	rows := r.anchorSampleRows(m, len(d.columns))
	if keptRows := d.sample.Rows(); keptRows < rows {
		return stream.Usagef("{profile} keeps %d rows to take anchors from, and %d are wanted for {anchors} %d {anchor-method} %s; make it with %s and these",
			keptRows, rows, m, r.Anchors.Placing, remedy)
	}
	if have := int64(d.sample.Len()); have < min(int64(rows), d.profile.Rows) {
		if !r.wholeProfile.isComplete() {
			return stream.Usagef("{profile} is of some shards only, and keeps %s rows of %d to take anchors from; merge the profiles of all shards", comma(have), rows)
		}
		return d.sample.Short(d.profile.Rows)
	}
	// Copy the sample, because another attempt may need all of it. Merge keeps the smaller limit on rows.
	all := d.sample
	d.sample = anchor.NewSampler(len(wanted), anchor.SamplerOptions{Rows: rows, Seed: r.Seed})
	err := d.sample.Merge(all)
	d.sample.Keep(wanted)
	return err
}
