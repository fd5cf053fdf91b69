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

// details says where a selection's reports on every feature go: into its JSON, into a Parquet table, or
// nowhere.
type details struct{ to string }

const (
	detailsAuto = "auto"
	detailsAll  = "all"
	detailsNone = "none"
	// manyFeatures are beyond what anyone reads in a JSON: the reports on so many take 5 MB.
	manyFeatures = 20_000
	// fewLeftOut columns are named with their reason where the reports are not in the JSON.
	fewLeftOut = 1000
)

func (d *details) add(fs *pflag.FlagSet) {
	fs.StringVar(&d.to, "details", detailsAuto, "reports and scores of all features: `all` in the JSON, none, FILE.parquet beside it, or auto: in the JSON up to "+humanize.Comma(manyFeatures)+" features")
}

func (d *details) check() error {
	switch {
	case d.to == detailsAuto, d.to == detailsAll, d.to == detailsNone, path.Ext(d.to) == ".parquet":
		return nil
	}
	return stream.Usagef("--details %q: want auto, all, none or a FILE.parquet", d.to)
}

// settle writes the reports to their own file, and leaves out of s what is not to be in its JSON.
func (d *details) settle(ctx context.Context, c *cli, s *stream.Selection, format string) error {
	if d.to == detailsAll || d.to == detailsAuto && len(s.Columns) <= manyFeatures {
		return nil
	}
	if path.Ext(d.to) == ".parquet" {
		if err := c.write(ctx, d.to, func(w io.Writer) error { return writeDetails(w, s) }); err != nil {
			return err
		}
	} else if d.to == detailsAuto && format == "json" {
		c.say("the reports on %s features are left out of the JSON; --details all has them there, --details FILE.parquet beside it", humanize.Comma(int64(len(s.Columns))))
	}
	if format != "json" {
		return nil
	}
	s.Columns, s.Scores = []stream.ColumnReport{}, nil
	if n := len(s.LeftOut) - fewLeftOut; n > 0 {
		s.LeftOut = s.LeftOut[:fewLeftOut]
		s.Warnings = append(s.Warnings, plural(n, "more column")+" left out; --details all names them")
	}
	return nil
}

// writeDetails writes a row for each feature.
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
