package ufs

import (
	"maps"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// addStates merges the statistics of o into e. The headers of their files were already compared, so only the statistics
// themselves can differ in shape.
func (e *bundle) addStates(o *bundle) error {
	if err := addSample(e, o); err != nil {
		return err
	}
	if e.histograms != nil && o.histograms != nil {
		if err := e.histograms.Merge(o.histograms); err != nil {
			return err
		}
	} else {
		e.histograms = nil // a sum has histograms only if both parts have them
	}
	if e.facts != nil && o.facts != nil {
		if err := e.facts.Merge(o.facts); err != nil {
			return err
		}
	} else {
		e.facts = nil // a sum has facts only if both parts have them
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
	if err := e.addRowSamples(o); err != nil {
		return err
	}
	if err := e.addRanks(o); err != nil {
		return err
	}
	if e.shardStats != nil && o.shardStats != nil {
		if err := e.shardStats.merge(o.shardStats); err != nil {
			return err
		}
	} else {
		e.shardStats = nil // a sum has shard statistics only if both parts have them
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

func addSample(e, o *bundle) error {
	switch {
	case e.sample != nil && o.sample != nil:
		return e.sample.Merge(o.sample)
	case e.moments != nil:
		e.sample = nil // a sum has a sample only if both parts have samples
	case e.sample != o.sample:
		return stream.Usagef("only one of them has a sample of rows; make both with {profile-only} and the same options")
	}
	return nil
}

func (e *bundle) mergedBytes(o *bundle, threads int) (int64, error) {
	if o == nil {
		o = &bundle{}
	}
	var n int64
	if e.histograms != nil {
		n += gram.HistogramsBytes(len(e.columns))
	}
	if e.facts != nil {
		n += e.facts.Bytes()
	}
	shards := 0
	if e.shardStats != nil {
		shards = len(e.shardStats.moments)
		n += e.shardStats.momentsBytes(o.shardStats)
	}
	if e.ranks != nil {
		n += gram.RankHistogramsBytes(len(e.columns), -1, threads)
	}
	if e.rawProfile != nil {
		n += profileColumnBytes * int64(len(e.columns))
	}
	if e.moments == nil {
		n += profileColumnBytes * int64(len(e.columns))
	} else {
		n += e.moments.MergedBytes(o.moments)
	}
	if e.sketch != nil {
		n += e.sketch.MergedBytes(o.sketch)
	}
	if e.weights != nil {
		n += e.weights.MergedBytes(o.weights)
	}
	n += samplesBytes(e, o)
	if e.graph == nil {
		return n, nil
	}
	graph, err := e.graphBytes(e.path, threads, shards)
	return n + graph, err
}

func samplesBytes(e, o *bundle) (n int64) {
	if e.sample != nil {
		n += e.sample.MergedBytes(o.sample)
	}
	if e.rowSample != nil {
		n += e.rowSample.MergedBytes(o.rowSample)
	}
	return n
}

func firstOptionDifference(a, b map[string]string) stream.Text {
	both := make(map[string]string, len(a)+len(b))
	maps.Copy(both, a)
	maps.Copy(both, b)
	// Compare optionSampleRows first: a file without sampled rows also lacks the policy for their missing values.
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
