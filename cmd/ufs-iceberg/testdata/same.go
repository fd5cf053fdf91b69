//go:build ignore

// Command same compares two statistics files: the counts of each column must be equal, and means and products equal within
// a tolerance, relative to the lengths of the columns.
package main

import (
	"context"
	"fmt"
	"math"
	"os"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

func main() {
	if err := compareFiles(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// tolerance of sums of some thousand products: a few thousand times 2⁻⁵³ at worst.
const tolerance = 1e-12

// sums are the profile and the products of a file.
type sums struct {
	columns  []stream.Column
	profile  *gram.Profile
	products *gram.Gram
}

func readSums(ctx context.Context, path string) (s sums, err error) {
	r, err := chunkio.OpenStats(ctx, path, chunkio.FetchOptions{})
	if err != nil {
		return s, err
	}
	defer r.Close()
	s.columns, s.profile = r.Header.Columns, gram.NewProfile(len(r.Header.Columns))
	section, err := r.SectionReader("profile")
	if err == nil {
		_, err = s.profile.ReadFrom(section)
	}
	if err != nil {
		return s, err
	}
	m := gram.NewMoments(len(s.columns), gram.Options{})
	if section, err = r.SectionReader("moments"); err == nil {
		_, err = m.ReadFrom(section)
	}
	if err == nil {
		s.products, err = m.Finish(s.columns, gram.FinishOptions{Scale: gram.ScaleCenter})
	}
	return s, err
}

func compareFiles(ctx context.Context, got, want string) error {
	a, err := readSums(ctx, got)
	if err != nil {
		return err
	}
	b, err := readSums(ctx, want)
	if err != nil {
		return err
	}
	if fmt.Sprint(a.columns) != fmt.Sprint(b.columns) || a.profile.Rows != b.profile.Rows || a.profile.Seen != b.profile.Seen || a.profile.Weight != b.profile.Weight {
		return fmt.Errorf("%d rows of %d of columns %v, want %d of %d of %v", a.profile.Rows, a.profile.Seen, a.columns, b.profile.Rows, b.profile.Seen, b.columns)
	}
	for j, x := range a.profile.Columns {
		y, name := b.profile.Columns[j], a.columns[j].Name
		if x.Observed != y.Observed || x.Missing != y.Missing {
			return fmt.Errorf("column %s: %d entries observed, missing %+v, want %d, %+v", name, x.Observed, x.Missing, y.Observed, y.Missing)
		}
		if y.Observed == 0 {
			continue
		}
		if mean, is := x.Pilot+x.Sum/x.Weight, y.Pilot+y.Sum/y.Weight; !(math.Abs(mean-is) <= tolerance*math.Max(1, math.Abs(is))) {
			return fmt.Errorf("mean of %s: %v, want %v", name, mean, is)
		}
	}
	p, q := a.products, b.products
	for i := range q.D {
		for j := range q.D {
			if length := math.Sqrt(q.Sym[i*q.D+i] * q.Sym[j*q.D+j]); !(math.Abs(p.Sym[i*q.D+j]-q.Sym[i*q.D+j]) <= tolerance*length) {
				return fmt.Errorf("product of %s and %s: %v, want %v", a.columns[i].Name, a.columns[j].Name, p.Sym[i*q.D+j], q.Sym[i*q.D+j])
			}
		}
	}
	return nil
}
