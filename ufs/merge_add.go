package ufs

import (
	"maps"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// add merges the states of o into e. Their files were found to belong together by what their
// headers say, so that only the states themselves can disagree.
func (e *bundle) add(o *bundle) error {
	if err := addSample(e, o); err != nil {
		return err
	}
	if e.spread != nil && o.spread != nil {
		if err := e.spread.Merge(o.spread); err != nil {
			return err
		}
	} else {
		e.spread = nil // without those of one part there are none of the whole
	}
	if e.facts != nil && o.facts != nil {
		if err := e.facts.Merge(o.facts); err != nil {
			return err
		}
	} else {
		e.facts = nil // likewise
	}
	if e.sketch != nil {
		if err := e.sketch.Merge(o.sketch); err != nil {
			return err
		}
	}
	if e.weights != nil {
		if err := e.weights.Merge(o.weights); err != nil {
			return err
		}
	}
	if err := e.addRows(o); err != nil {
		return err
	}
	if err := e.addRanks(o); err != nil {
		return err
	}
	if e.hashed != nil && o.hashed != nil {
		if err := e.hashed.merge(o.hashed); err != nil {
			return err
		}
	} else {
		e.hashed = nil // likewise
	}
	switch {
	case e.graph != nil:
		if err := e.graph.Merge(o.graph); err != nil {
			return err
		}
		if e.moments == nil {
			return e.profile.Merge(o.profile)
		}
		return e.moments.Merge(o.moments)
	case e.moments != nil:
		return e.moments.Merge(o.moments)
	}
	return e.profile.Merge(o.profile)
}

// addSample merges the samples of rows that profiles or moments have.
func addSample(e, o *bundle) error {
	switch {
	case e.sample != nil && o.sample != nil:
		return e.sample.Merge(o.sample)
	case e.moments != nil:
		e.sample = nil // without that of one part there is none of the whole
	case e.sample != o.sample:
		return stream.Usagef("only one of them has a sample of rows; make both with {profile-only} and the same options")
	}
	return nil
}

// bytes bounds what the states of e hold once those of o, if it is not nil, are merged into them.
func (e *bundle) bytes(o *bundle, threads int) (int64, error) {
	if o == nil {
		o = &bundle{}
	}
	var n int64
	if e.spread != nil {
		n += gram.HistogramsBytes(len(e.columns))
	}
	if e.facts != nil {
		n += e.facts.Bytes()
	}
	shards := 0
	if e.hashed != nil {
		shards = len(e.hashed.moments)
		n += e.hashed.momentsBytes(o.hashed)
	}
	if e.ranks != nil {
		n += gram.RankHistogramsBytes(len(e.columns), -1, threads)
	}
	if e.raw != nil {
		n += profileColumn * int64(len(e.columns))
	}
	if e.moments == nil {
		n += profileColumn * int64(len(e.columns))
	} else {
		n += e.moments.MergedBytes(o.moments)
	}
	if e.sketch != nil {
		n += e.sketch.MergedBytes(o.sketch)
	}
	if e.weights != nil {
		n += e.weights.MergedBytes(o.weights)
	}
	n += sampledBytes(e, o)
	if e.graph == nil {
		return n, nil
	}
	graph, err := e.graphBytes(e.path, threads, shards)
	return n + graph, err
}

// sampledBytes bounds what the samples of rows in e hold once those of o are merged into them.
func sampledBytes(e, o *bundle) (n int64) {
	if e.sample != nil {
		n += e.sample.MergedBytes(o.sample)
	}
	if e.rows != nil {
		n += e.rows.MergedBytes(o.rows)
	}
	return n
}

// optionsDiffer names the first option in which two runs differ.
func optionsDiffer(a, b map[string]string) stream.Text {
	both := make(map[string]string, len(a)+len(b))
	maps.Copy(both, a)
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
