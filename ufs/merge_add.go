package ufs

import (
	"context"
	"maps"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/stream"
)

// clashing is the first of the files at paths that covers rows of next as well, and
// else the first. It looks at their headers only.
func (q *Request) clashing(ctx context.Context, paths []string, next *gathered) string {
	covers := func(path string) bool {
		h, err := chunkio.ReadStatsHeader(ctx, path, q.fetching())
		return err == nil && recordedIn(h).join(next) != nil
	}
	if i := slices.IndexFunc(paths, covers); i >= 0 {
		return paths[i]
	}
	return paths[0]
}

// add merges o into e after making sure that they belong together.
func (e *gathered) add(o *gathered) error {
	if err := sameColumns(e.columns, o.columns); err != nil {
		hint := stream.Text{}
		if len(e.decided)+len(o.decided) > 0 {
			hint = stream.Textf("; each part left out what is useless in it: make one profile of all parts (scan {profile-only}, merge) and scan them with {profile}")
		}
		return stream.Usagef("their columns differ: %v%s", err, hint)
	}
	if !maps.Equal(e.options, o.options) {
		return stream.Usagef("their options differ: %v", optionsDiffer(e.options, o.options))
	}
	apart := e.numberedApart(o)
	if err := e.join(o); err != nil {
		return err
	}
	if e.table != nil && (o.table == nil || *o.table != *e.table) {
		e.table = nil // no one version has all inputs
	}
	for _, w := range o.warnings {
		if !slices.ContainsFunc(e.warnings, func(own stream.Text) bool { return own.String() == w.String() }) {
			e.warnings = append(e.warnings, w)
		}
	}
	if err := e.addSpread(o); err != nil {
		return err
	}
	if err := e.addRows(o, apart); err != nil {
		return err
	}
	switch {
	case e.graph != nil:
		if err := e.graph.Merge(o.graph); err != nil {
			return err
		}
		return e.moments.Merge(o.moments)
	case e.moments != nil:
		return e.moments.Merge(o.moments)
	case (e.sample == nil) != (o.sample == nil):
		return stream.Usagef("only one of them has a sample of rows for anchors; make both with {profile-only} and the same {method}")
	case e.sample != nil:
		if err := e.sample.Merge(o.sample); err != nil {
			return err
		}
	}
	return e.profile.Merge(o.profile)
}

// addSpread merges the histograms, if both have any; without those of one part there are none
// of the whole.
func (e *gathered) addSpread(o *gathered) error {
	if e.spread != nil && o.spread != nil {
		return e.spread.Merge(o.spread)
	}
	if e.spread != nil || o.spread != nil {
		e.spread = nil
		e.warnings = append(e.warnings, stream.Textf("a part was scanned by an earlier version, without histograms, so the whole has none either: scan it again where check is to say how far columns moved"))
	}
	return nil
}

// optionsDiffer names the first option in which two runs differ.
func optionsDiffer(a, b map[string]string) stream.Text {
	both := maps.Clone(a)
	maps.Copy(both, b)
	// Without rows there is no policy for their missing values.
	for _, option := range append([]string{optionSampleRows}, sortedKeys(both)...) {
		if a[option] != b[option] {
			x, y := a[option], b[option]
			if option == optionSampleMissing {
				option = "missing"
			}
			return stream.Textf("%v %q against %q", stream.Option(option), x, y)
		}
	}
	return stream.PlainText("unknown")
}
