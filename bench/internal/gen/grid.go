package gen

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/bench/internal/cli"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/stream"
)

// imageMaker makes the values of images. Every class has a pattern, which consists of a few strokes. Every row shows
// the pattern of its class, moved by up to shift pixels, with a random brightness and noise. Pixels are whole numbers
// from 0 to 255.
type imageMaker struct {
	height, width, classes int
	shift                  int
	columns                []stream.Column
	patterns               [][]float64 // by class, brightness of each pixel from 0 to 1, with a margin of shift pixels around the image
	rows                   planted.Series
	seed                   uint64
}

const (
	gridStrokes       = 3       // number of strokes of a class
	gridNoise         = 12      // standard deviation of a pixel
	gridRows          = 0       // number of the random series that is used for the rows
	gridStroke        = 1       // number of the series for the strokes
	gridPixel         = 1 << 33 // the series for the noise of the first pixel; the next series are for the other pixels
	minInformativeGap = 0.1     // least difference between the mean images of two classes, as a share of full brightness, at an informative pixel
)

func newImageMaker(rows, width, classes int, seed uint64) *imageMaker {
	g := &imageMaker{height: rows, width: width, classes: classes, shift: max(1, min(rows, width)/14),
		rows: planted.NewSeries(seed, gridRows), seed: seed}
	for r := range rows {
		for c := range width {
			g.columns = append(g.columns, stream.Column{Name: fmt.Sprintf("px_%d_%d", r, c), Type: "uint8"})
		}
	}
	draw := planted.NewSeries(seed, gridStroke)
	draws := int64(0)
	uniform := func(from, to float64) float64 {
		draws++
		return from + float64((to-from)*uniform01(draw.Bits(draws)))
	}
	for range classes {
		pattern := make([]float64, (rows+2*g.shift)*(width+2*g.shift))
		for range gridStrokes {
			// Strokes end in the middle 60 %, so that the pixels at the border have no information.
			s := stroke{
				y0: uniform(0.2, 0.8) * float64(rows), x0: uniform(0.2, 0.8) * float64(width),
				y1: uniform(0.2, 0.8) * float64(rows), x1: uniform(0.2, 0.8) * float64(width),
				reach: uniform(0.06, 0.12) * float64(max(min(rows, width), 16)),
			}
			for i := range pattern {
				y := float64(i/(width+2*g.shift) - g.shift)
				x := float64(i%(width+2*g.shift) - g.shift)
				pattern[i] = max(pattern[i], s.brightnessAt(y, x))
			}
		}
		g.patterns = append(g.patterns, pattern)
	}
	return g
}

// stroke is a line with soft sides. At a distance from the line its brightness is (1 - (distance/reach)²)², and 0
// beyond reach. A polynomial gives the same bits on every machine.
type stroke struct{ y0, x0, y1, x1, reach float64 }

func (s stroke) brightnessAt(y, x float64) float64 {
	dy, dx := s.y1-s.y0, s.x1-s.x0
	along := 0.0
	if l := float64(dy*dy) + float64(dx*dx); l > 0 {
		along = min(max((float64(dy*(y-s.y0))+float64(dx*(x-s.x0)))/l, 0), 1)
	}
	ey, ex := y-s.y0-float64(along*dy), x-s.x0-float64(along*dx)
	rest := max(0, 1-(float64(ey*ey)+float64(ex*ex))/float64(s.reach*s.reach))
	return rest * rest
}

func uniform01(bits uint64) float64 { return float64(bits>>11) / (1 << 53) }

// Columns implements Filler. It returns the pixels of an image, and the label.
func (g *imageMaker) Columns() []stream.Column { return g.columns }

// FillColumn implements Filler. It writes one pixel, or the label, of len(out) images to out.
func (g *imageMaker) FillColumn(j int, from int64, out []float64) {
	y, x := j/g.width+g.shift, j%g.width+g.shift
	noise := planted.NewSeries(g.seed, gridPixel+uint64(j))
	span := uint64(2*g.shift + 1)
	for i := range out {
		row := from + int64(i)
		class, bits := g.classAndRandomBits(row)
		dy, dx := int(bits%span)-g.shift, int(bits>>16%span)-g.shift
		bright := 0.75 + uniform01(bits)/2
		v := g.patterns[class][(y-dy)*(g.width+2*g.shift)+x-dx]
		out[i] = min(max(math.Round(float64(200*bright*v)+float64(gridNoise*noise.Normal(row))), 0), 255) + 0 // no -0
	}
}

func (g *imageMaker) classAndRandomBits(row int64) (class int, bits uint64) {
	bits = g.rows.Bits(row)
	return int(bits >> 32 % uint64(g.classes)), bits
}

// gridAnswer lists the pixels by their information about the classes.
type gridAnswer struct {
	answer
	Shape       string   `json:"shape"`
	Informative []string `json:"informative"` // the mean images of two classes differ by at least minInformativeGap
	Weak        []string `json:"weak"`        // the mean images differ by less
	Background  []string `json:"background"`  // noise only, because no pattern reaches these pixels
}

func (g *imageMaker) describeColumns(o options) gridAnswer {
	a := gridAnswer{
		answer: o.makeCommonAnswer("grid", len(g.columns), g.classes), Shape: fmt.Sprintf("%dx%d", g.height, g.width),
		Informative: []string{}, Weak: []string{}, Background: []string{},
	}
	for j, col := range g.columns {
		y, x := j/g.width+g.shift, j%g.width+g.shift
		low, high := math.Inf(1), 0.0
		for _, p := range g.patterns {
			mean := 0.0
			for dy := -g.shift; dy <= g.shift; dy++ {
				for dx := -g.shift; dx <= g.shift; dx++ {
					mean += p[(y-dy)*(g.width+2*g.shift)+x-dx]
				}
			}
			mean /= float64((2*g.shift + 1) * (2*g.shift + 1))
			low, high = min(low, mean), max(high, mean)
		}
		switch {
		case high-low >= minInformativeGap:
			a.Informative = append(a.Informative, col.Name)
		case high > 0:
			a.Weak = append(a.Weak, col.Name)
		default:
			a.Background = append(a.Background, col.Name)
		}
	}
	return a
}

func gridCommand(c *cli.Shared) *cobra.Command {
	var o options
	var shape string
	var classes int
	types := []string{"uint8", "uint16", "int16", "int32", "float", "double"}
	cmd := &cobra.Command{
		Use:   "grid -o FILE.parquet",
		Short: "Images of a few strokes a class, shifted and noisy, columns px_R_C",
		Args:  program.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.checkFlags(types...); err != nil {
				return err
			}
			height, width, err := parseShape(shape)
			if err != nil {
				return err
			}
			if classes < 2 || classes > 1000 {
				return stream.Usagef("--classes %d: want between 2 and 1000", classes)
			}
			g := newImageMaker(height, width, classes, o.seed)
			w := chunkio.WriteOptions{Type: o.typ, LabelName: LabelName, Label: func(row int64) int32 {
				class, _ := g.classAndRandomBits(row)
				return int32(class)
			}}
			return generateTable(cmd.Context(), c, o, filledTable{g, o.rows, o.nulls, o.seed, o.threads}, w, g.describeColumns(o))
		},
	}
	o.addFlags(cmd.Flags(), types...)
	o.addNullsFlag(cmd.Flags())
	cmd.Flags().StringVar(&shape, "shape", "28x28", "`RxC` pixels")
	cmd.Flags().IntVar(&classes, "classes", 10, "number of classes")
	return cmd
}

// parseShape parses a shape such as "28x30". It returns an error if a side is below 8, which leaves no room for
// strokes, or if there are more than a million pixels, because their patterns would need too much memory.
func parseShape(s string) (height, width int, err error) {
	r, c, _ := strings.Cut(s, "x")
	height, errR := strconv.Atoi(r)
	width, errC := strconv.Atoi(c)
	if errR != nil || errC != nil || height < 8 || width < 8 || height > 1000 || width > 1000 {
		return 0, 0, stream.Usagef("--shape %s: want RxC such as 28x28, each from 8 to 1000", s)
	}
	return height, width, nil
}
