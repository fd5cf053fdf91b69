package eufs_test

import (
	"context"
	"fmt"
	"iter"

	"github.com/ufs-stream/ufs-stream/eufs"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// twoKinds is 40 rows of two kinds: columns 0 and 2 separate them, 1 and 3 do not.
type twoKinds struct{}

func (twoKinds) Columns() []stream.Column {
	return []stream.Column{{Name: "a"}, {Name: "noise 1"}, {Name: "b"}, {Name: "noise 2"}}
}
func (twoKinds) Rows() int64   { return 40 }
func (twoKinds) Cuts() []int64 { return []int64{0, 40} }

func (twoKinds) Chunks(context.Context, stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		c := &stream.Chunk{Block: 40, Rows: 40, Cols: 4, Stride: 40, Data: make([]float64, 160)}
		for i := range 40 {
			c.Data[i], c.Data[80+i] = float64(i%2*9+i%3), float64(9-i%2*9+i%5)
			c.Data[40+i], c.Data[120+i] = float64(i*7%11), float64(i*5%13)
		}
		yield(c, nil)
	}
}

func Example() {
	ctx, src := context.Background(), twoKinds{}
	profile := gram.NewProfile(4)
	stream.Fold(ctx, src, stream.FoldOptions{}, profile)
	std, _ := gram.NewStandardizer(profile, src.Columns(), gram.ScaleUnit, gram.FillMean)
	p, err := eufs.Prepare(ctx, src, std, eufs.Setup{Clusters: 2, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	r, err := p.Solve(ctx, eufs.Options{Alpha: eufs.Weight{Value: 0.5, Share: true}, Beta: eufs.Weight{Value: 0.1}, Mu: 10})
	fmt.Println(r.Order[:2], err)
	// Output: [2 0] <nil>
}
