package statistics

import (
	"maps"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// AddStates merges the statistics of o into e. The headers of their files were already compared, so only the statistics
// themselves can differ in shape.
func AddStates(e *Bundle, o *Bundle) error {
	if err := addSample(e, o); err != nil {
		return err
	}
	if e.Histograms != nil && o.Histograms != nil {
		if err := e.Histograms.Merge(o.Histograms); err != nil {
			return err
		}
	} else {
		e.Histograms = nil // a sum has histograms only if both parts have them
	}
	if e.Facts != nil && o.Facts != nil {
		if err := e.Facts.Merge(o.Facts); err != nil {
			return err
		}
	} else {
		e.Facts = nil // a sum has facts only if both parts have them
	}
	if e.Sketch != nil {
		if err := e.Sketch.Merge(o.Sketch); err != nil {
			return err
		}
	}
	if e.Weights != nil {
		if err := e.Weights.Merge(o.Weights); err != nil {
			return err
		}
	}
	if err := addRowSamples(e, o); err != nil {
		return err
	}
	if err := addRanks(e, o); err != nil {
		return err
	}
	if e.ShardStats != nil && o.ShardStats != nil {
		if err := e.ShardStats.merge(o.ShardStats); err != nil {
			return err
		}
	} else {
		e.ShardStats = nil // a sum has shard statistics only if both parts have them
	}
	switch {
	case e.Graph != nil:
		if err := e.Graph.Merge(o.Graph); err != nil {
			return err
		}
		if e.Moments == nil {
			return e.Profile.Merge(o.Profile)
		}
		return e.Moments.Merge(o.Moments)
	case e.Moments != nil:
		return e.Moments.Merge(o.Moments)
	}
	return e.Profile.Merge(o.Profile)
}

func addSample(e, o *Bundle) error {
	switch {
	case e.Sample != nil && o.Sample != nil:
		return e.Sample.Merge(o.Sample)
	case e.Moments != nil:
		e.Sample = nil // a sum has a sample only if both parts have samples
	case e.Sample != o.Sample:
		return stream.Usagef("only one of them has a sample of rows; make both with {profile-only} and the same options")
	}
	return nil
}

func MergedBytes(e *Bundle, o *Bundle, threads int) (int64, error) {
	if o == nil {
		o = &Bundle{}
	}
	var n int64
	if e.Histograms != nil {
		n += gram.HistogramsBytes(len(e.Columns))
	}
	if e.Facts != nil {
		n += e.Facts.Bytes()
	}
	shards := 0
	if e.ShardStats != nil {
		shards = len(e.ShardStats.Moments)
		n += e.ShardStats.momentsBytes(o.ShardStats)
	}
	if e.Ranks != nil {
		n += gram.RankHistogramsBytes(len(e.Columns), -1, threads)
	}
	if e.RawProfile != nil {
		n += budget.ProfileColumnBytes * int64(len(e.Columns))
	}
	if e.Moments == nil {
		n += budget.ProfileColumnBytes * int64(len(e.Columns))
	} else {
		n += e.Moments.MergedBytes(o.Moments)
	}
	if e.Sketch != nil {
		n += e.Sketch.MergedBytes(o.Sketch)
	}
	if e.Weights != nil {
		n += e.Weights.MergedBytes(o.Weights)
	}
	n += SamplesBytes(e, o)
	if e.Graph == nil {
		return n, nil
	}
	graph, err := e.GraphBytes(e.Path, threads, shards)
	return n + graph, err
}

func SamplesBytes(e, o *Bundle) (n int64) {
	if e.Sample != nil {
		n += e.Sample.MergedBytes(o.Sample)
	}
	if e.RowSample != nil {
		n += e.RowSample.MergedBytes(o.RowSample)
	}
	return n
}

func FirstOptionDifference(a, b map[string]string) stream.Text {
	both := make(map[string]string, len(a)+len(b))
	maps.Copy(both, a)
	maps.Copy(both, b)
	// Compare OptionSampleRows first: a file without sampled rows also lacks the policy for their missing values.
	for _, option := range append([]string{request.OptionSampleRows}, request.SortedKeys(both)...) {
		if a[option] != b[option] {
			x, y := a[option], b[option]
			if option == request.OptionSampleMissing {
				option = "missing"
			}
			return stream.Textf("%v %q against %q", stream.Option(option), x, y)
		}
	}
	return stream.PlainText("unknown")
}

func Discount(e *Bundle, gamma float64) error {
	e.Sample = nil // its rows cannot be discounted
	if err := e.Moments.Discount(gamma); err != nil {
		return err
	}
	if e.Graph != nil {
		if err := e.Graph.Discount(gamma); err != nil {
			return err
		}
	}
	if e.ShardStats != nil {
		if err := e.ShardStats.discount(gamma); err != nil {
			return err
		}
	}
	if e.Histograms != nil {
		return e.Histograms.Discount(gamma)
	}
	return nil
}

// addRanks merges the histograms of ranks, which only profiles have. Statistics of scores need no merging here: equal
// options (OptionRanks) mean that the scores of e and o come from the same ranks, and that rawProfile is the same.
func addRanks(e *Bundle, o *Bundle) error {
	if (e.Ranks == nil) != (o.Ranks == nil) || (e.RawProfile == nil) != (o.RawProfile == nil) {
		return stream.Usagef("only one of them was scanned with {scale} rank")
	}
	if e.Ranks == nil {
		return nil
	}
	return e.Ranks.Merge(o.Ranks)
}

func addRowSamples(e *Bundle, o *Bundle) error {
	switch {
	case (e.RowSample == nil) != (o.RowSample == nil):
		return stream.Usagef("only one of them keeps rows; make both with the same {sample-rows}")
	case e.RowSample == nil:
		return nil
	}
	return e.RowSample.Merge(*o.RowSample)
}
