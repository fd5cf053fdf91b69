package chunkio

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/catalog"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/internal/disk/planfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestPlanOfImpossibleSizes: sizes that cannot be are refused before any shard is looked for, which
// divides by them.
func TestPlanOfImpossibleSizes(t *testing.T) {
	files := []planfile.File{{Path: "/x", Bytes: 1, Footer: "1", Fingerprint: "1"}} // without row groups
	for _, h := range []planfile.Header{
		{Weight: math.MinInt64, Catalog: &planfile.Catalog{}},
		{Weight: -1, Catalog: &planfile.Catalog{}},
		{Rows: -1, Catalog: &planfile.Catalog{}},
		{Catalog: &planfile.Catalog{OpenBytes: -1}},
	} {
		h.Footers = true
		path := writeOwn(t, h, files)
		_, err := Open(t.Context(), nil, Options{Plan: path, Shard: Shard{Number: 1, Of: 2}})
		if !chunkiotest.IsData(err) || !strings.Contains(err.Error(), "cannot be") || !strings.Contains(err.Error(), path) {
			t.Errorf("rows %d, weight %d: %v", h.Rows, h.Weight, err)
		}
	}
}

// TestPlanOfNoDigests: a digest or a partition value that is none is named in our words.
func TestPlanOfNoDigests(t *testing.T) {
	key := planfile.Catalog{Partitions: []planfile.Partition{{Key: "day"}}}
	for _, c := range []struct {
		file    planfile.File
		catalog planfile.Catalog
		says    string
	}{
		{planfile.File{Footer: "1", Fingerprint: "/x"}, planfile.Catalog{}, `fingerprint "/x" is no digest`},
		{planfile.File{Footer: "", Fingerprint: "1"}, planfile.Catalog{}, `footer "" or`},
		{planfile.File{Footer: "1", Fingerprint: "1", Keys: []string{"1e"}}, key, `"1e" is not a decimal number`},
		{planfile.File{Footer: "1", Fingerprint: "1", Keys: []string{"1e999"}}, key, `"1e999" is not a decimal number`},
	} {
		c.file.Path = "/x"
		_, err := Open(t.Context(), nil, Options{Plan: writeOwn(t, planfile.Header{Footers: true, Catalog: &c.catalog}, []planfile.File{c.file})})
		if !chunkiotest.IsData(err) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "strconv") {
			t.Errorf("opening a plan of %+v: %v, want a DataError about %q", c.file, err, c.says)
		}
	}
}

var errUnreadable = errors.New("unreadable")

// unreadable is a file that has its size and can no longer be read.
type unreadable struct{ Input }

func (unreadable) ReadAt([]byte, int64) (int, error) { return 0, errUnreadable }

// TestPlannedFileFailsToRead: a disk that fails is not taken for a file that was changed.
func TestPlannedFileFailsToRead(t *testing.T) {
	disk, paths := PlantTable(chunkiotest.NewTable(30).AddScalar("a", make([]float64, 30)), 1, 10, 1)
	c := dataset.TableOf(disk.OpenDataset(t, paths, Options{})).Catalog
	c.Plan = &catalog.PlanInfo{}
	opened, _, err := c.ReopenFile(t.Context(), 0, 1<<20, nil)
	if err != nil {
		t.Fatalf("opening the planned file: %v", err)
	}
	formattest.Must(t, opened.Close())
	open := c.Open
	c.Open = func(ctx context.Context, e storage.Entry, memory int64, meter *stream.Meter) (format.File, Input, error) {
		opened, in, err := open(ctx, e, memory, meter)
		return opened, unreadable{in}, err
	}
	if _, _, err := c.ReopenFile(t.Context(), 0, 1<<20, nil); !errors.Is(err, errUnreadable) {
		t.Errorf("a disk that fails: %v", err)
	}
}
