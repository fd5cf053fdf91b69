package gathering

import (
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

func anchorDataFromProfile(p *pass, ds *chunkio.Dataset) (*anchorData, error) {
	r, whole := p.gatherer.Run, p.gatherer.Run.WholeProfile
	var err error
	if p.opt.LeaveOut, err = p.gatherer.matchingLeftOut(ds); err != nil {
		return nil, err
	}
	d := &anchorData{profile: &gram.Profile{Rows: whole.Profile.Rows, Seen: whole.Profile.Seen, Weight: whole.Profile.Weight}, sample: whole.Sample}
	wanted := make([]bool, len(whole.Columns))
	holes := whole.Profile.Rows != whole.Profile.Seen && whole.Options["where"] == "" // {where} excludes rows that Seen counts
	for j, col := range whole.Columns {
		if slices.ContainsFunc(p.opt.LeaveOut, func(l stream.LeftOut) bool { return l.Name == col.Name }) {
			continue
		}
		wanted[j] = true
		d.columns = append(d.columns, col)
		d.profile.Columns = append(d.profile.Columns, whole.Profile.Columns[j])
		holes = holes || whole.Profile.Columns[j].Missing.Total() > 0
	}
	// Rows that the policy drops must affect neither the scaling nor the anchors; all other rows must affect both.
	if drop := p.opt.Missing == stream.MissingDropRow; holes && drop != (whole.Options["missing"] == request.MissingDropRow) {
		return nil, stream.Usagef("{missing} %s: {profile} was made under another policy, so of other rows; make it with {profile-only} {method} %s {missing} %[1]s",
			r.Columns.Missing, r.Bound.Name)
	}
	shape := request.StatisticsShape(&r.Request)
	for _, option := range request.OptionNames(request.AgreesWithStatistics) {
		if option != "weight" && shape[option] != whole.Options[option] { // anchors are drawn regardless of weights
			return nil, stream.Usagef("%v %q, but {profile} was made with %q; make both alike", stream.Option(option), shape[option], whole.Options[option])
		}
	}
	if r.Bound.Anchors.File != "" {
		return d, nil
	}
	return d, reuseSample(r, d, wanted)
}

// reuseSample reduces the sample of a scanned profile to the rows that a profile pass over the wanted columns would
// draw now.
func reuseSample(r *settled.Run, d *anchorData, wanted []bool) error {
	remedy := stream.Textf("{profile-only} {method} %s", r.Bound.Name)
	if d.sample == nil {
		return stream.Usagef("{profile} has no sample of rows to take anchors from; make it with %s", remedy)
	}
	if seed := d.sample.Options().Seed; seed != r.Choice.Seed {
		return stream.Usagef("{seed} %d: the rows of {profile} were drawn with {seed} %d; make it with %s {seed} %[1]d", r.Choice.Seed, seed, remedy)
	}
	m := r.ExpectedAnchors(d.profile.Seen)
	rows := r.AnchorSampleRows(m, len(d.columns))
	if keptRows := d.sample.Options().Rows; keptRows < rows {
		return stream.Usagef("{profile} keeps %d rows to take anchors from, and %d are wanted for {anchors} %d {anchor-method} %s; make it with %s and these",
			keptRows, rows, m, r.Bound.Anchors.Placing, remedy)
	}
	if have := int64(d.sample.Len()); have < min(int64(rows), d.profile.Rows) {
		if !r.WholeProfile.IsComplete() {
			return stream.Usagef("{profile} is of some shards only, and keeps %s rows of %d to take anchors from; merge the profiles of all shards", wording.WithCommas(have), rows)
		}
		return d.sample.Short(d.profile.Rows)
	}
	// Copy the sample, because another attempt may need all of it. Merge keeps the smaller limit on rows.
	all := d.sample
	d.sample = anchor.NewSampler(len(wanted), anchor.SamplerOptions{Rows: rows, Seed: r.Choice.Seed})
	err := d.sample.Merge(all)
	d.sample.Keep(wanted)
	return err
}
