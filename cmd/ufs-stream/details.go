package main

import (
	"context"
	"io"
	"math"
	"path"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/stream"
)

// detailsFlag determines how the reports on all features are written: all (in the JSON), none, to a Parquet file, or
// auto.
type detailsFlag struct{ target string }

const (
	detailsAuto = "auto"
	detailsAll  = "all"
	detailsNone = "none"
	// maxFeaturesInJSON is the largest number of reports that --details auto writes to the JSON. They need 5 MB.
	maxFeaturesInJSON = 20_000
	// maxLeftOutInJSON is the largest number of left-out columns in the JSON, if the reports are not in the JSON.
	maxLeftOutInJSON = 1000
)

func (d *detailsFlag) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&d.target, "details", detailsAuto, "reports and scores of all features: `all` in the JSON, none, FILE.parquet next to it, or auto: in the JSON up to "+humanize.Comma(maxFeaturesInJSON)+" features")
}

func (d *detailsFlag) checkTarget() error {
	switch {
	case d.target == detailsAuto, d.target == detailsAll, d.target == detailsNone, path.Ext(d.target) == ".parquet":
		return nil
	}
	return stream.Usagef("--details %q: want auto, all, none or a FILE.parquet", d.target)
}

// moveReports writes the reports to a Parquet file if the flag names one. It removes from s the reports that the JSON
// of s omits.
func (d *detailsFlag) moveReports(ctx context.Context, c *cli, s *stream.Selection, format string) error {
	if d.target == detailsAll || d.target == detailsAuto && len(s.Columns) <= maxFeaturesInJSON {
		return nil
	}
	if path.Ext(d.target) == ".parquet" {
		if err := c.writeOutput(ctx, d.target, func(w io.Writer) error { return writeDetails(w, s) }); err != nil {
			return err
		}
	} else if d.target == detailsAuto && format == "json" {
		c.printRemark("the JSON has no reports on the %s features; --details all adds them, --details FILE.parquet writes them to a file", humanize.Comma(int64(len(s.Columns))))
	}
	if format != "json" {
		return nil
	}
	s.Columns, s.Scores = []stream.ColumnReport{}, nil
	if n := len(s.LeftOut) - maxLeftOutInJSON; n > 0 {
		s.LeftOut = s.LeftOut[:maxLeftOutInJSON]
		s.Warnings = append(s.Warnings, countNoun(n, "more column")+" left out; --details all names them")
	}
	return nil
}

func writeDetails(w io.Writer, s *stream.Selection) error {
	n := len(s.Columns)
	name, nearest, column := make([]string, n), make([]string, n), make([]stream.Position, n)
	mean, std, explained, score := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	nulls, nans, infs, filled, rank := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	for i, c := range s.Columns {
		name[i], nearest[i], column[i], mean[i], std[i], explained[i] = c.Name, c.Nearest, c.Column, float64(c.Mean), float64(c.Std), float64(c.Explained)
		nulls[i], nans[i], infs[i], filled[i], score[i] = c.Nulls, c.NaNs, c.Infs, c.Filled, math.NaN()
		if i < len(s.Scores) {
			score[i] = float64(s.Scores[i].Score)
		}
	}
	at := make(map[string]int, n)
	for i, one := range name {
		at[one] = i
	}
	for _, f := range s.Selected {
		for k, feature := range f.Features() {
			i := at[feature]
			if rank[i] = int64(f.Rank); k == 0 && len(s.Scores) == 0 {
				score[i] = float64(f.Score)
			}
		}
	}
	return chunkio.WriteTable(w, n,
		chunkio.TableColumn{Name: "name", Values: name}, chunkio.TableColumn{Name: "column", Values: column}, chunkio.TableColumn{Name: "rank", Values: rank}, chunkio.TableColumn{Name: "score", Values: score},
		chunkio.TableColumn{Name: "mean", Values: mean}, chunkio.TableColumn{Name: "std", Values: std},
		chunkio.TableColumn{Name: "nulls", Values: nulls}, chunkio.TableColumn{Name: "nan", Values: nans}, chunkio.TableColumn{Name: "inf", Values: infs},
		chunkio.TableColumn{Name: "filled", Values: filled}, chunkio.TableColumn{Name: "explained", Values: explained}, chunkio.TableColumn{Name: "nearest", Values: nearest})
}
