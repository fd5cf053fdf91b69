package gram_test

import (
	"context"
	"fmt"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/stream"
)

func Example() {
	src := planted.New(planted.Options{Rows: 5000})
	m := gram.NewMoments(len(src.Columns()), gram.Options{})
	if err := stream.Fold(context.Background(), src, stream.FoldOptions{}, m); err != nil {
		fmt.Println(err)
		return
	}
	g, err := m.Finish(src.Columns(), gram.FinishOptions{Scale: gram.ScaleStandard})
	if err != nil {
		fmt.Println(err)
		return
	}
	// Standardized columns have the sum of squares n.
	fmt.Printf("%d rows, %d of %d columns, trace/(n·D) = %.6f\n", g.Rows, g.D, len(src.Columns()), trace(g)/float64(g.D)/g.Weight)
	for _, c := range g.LeftOut {
		fmt.Println("left out:", c.Name, c.Why)
	}
	// Output:
	// 5000 rows, 48 of 50 columns, trace/(n·D) = 1.000000
	// left out: x026 constant (4 in every row)
	// left out: x047 constant (-5 in every row)
}

func trace(g *gram.Gram) (sum float64) {
	for i := range g.D {
		sum += g.Sym[i*g.D+i]
	}
	return sum
}
