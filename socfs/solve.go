package socfs

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/ridge"
)

const (
	// epsilon keeps D finite where a row of W vanishes. Rows that matter have norms of 1e-2 and
	// more: E has columns of length 1, as features have on average.
	epsilon = 1e-10
	// leastShare is the λ, as a share of what leaves no feature, that stands for 0.
	leastShare = 1e-9
	// inertia is the share of the B before: far above rounding, far below what moves a norm.
	inertia = 1e-6
)

// solver is the state of the iteration. Products with X are of X/√unit.
type solver struct {
	team   *kernel.Team
	g      *anchor.Graph
	d, c   int
	unit   float64 // Tr(G)/d
	encode *encoding
	b      kernel.Matrix[float64] // B, c×c
	w      kernel.Matrix[float64] // W, d×c
	xe     kernel.Matrix[float64] // XᵀE = CᵀA, d×c
	rows   kernel.Matrix[float64] // B_g, n×m, where G is a factor of n rows
	root   []float64              // D^(−1/2)
	ridge  *ridge.Solver
}

// meet updates XᵀE.
func (s *solver) meet() {
	clear(s.xe.Data)
	kernel.Gemm(s.team, 1/math.Sqrt(s.unit), kernel.RowMajor(s.g.C, s.g.M, s.d, s.d).Trans(), s.encode.a, s.xe)
}

// most is the λ above which no W is better than 0 for the E of the start.
func (s *solver) most() (most float64) {
	for i := range s.d {
		row := s.xe.Data[i*s.c:][:s.c]
		most = max(most, 2*math.Sqrt(kernel.Dot(row, row)))
	}
	return most
}

// begin finds the first W, for D = I/2, as where all rows have norm 1.
func (s *solver) begin(lambda float64) error {
	for i := range s.root {
		s.root[i] = math.Sqrt2
	}
	return s.solve(lambda)
}

// resemble updates CWB, what E is to resemble.
func (s *solver) resemble() {
	wb := kernel.RowMajor(make([]float64, s.d*s.c), s.d, s.c, s.c)
	kernel.Gemm(s.team, 1, s.w, s.b, wb)
	clear(s.encode.linear.Data)
	kernel.Gemm(s.team, 1/math.Sqrt(s.unit), kernel.RowMajor(s.g.C, s.g.M, s.d, s.d), wb, s.encode.linear)
}

// rotate finds B, the polar factor of WᵀXᵀE. That has no full rank where the columns of E add up
// to a constant, as indicators of clusters do: then B is not unique, and rounding would choose.
// A little of the B before decides, and takes nothing from the objective's fall.
func (s *solver) rotate() error {
	s.meet()
	t := kernel.RowMajor(make([]float64, s.c*s.c), s.c, s.c, s.c)
	kernel.Gemm(s.team, 1, s.w.Trans(), s.xe, t)
	kernel.Axpy(inertia*math.Sqrt(kernel.Dot(t.Data, t.Data)), s.b.Data, t.Data)
	b, err := polar(t)
	s.b = b
	return err
}

// project finds W for the D of the W before.
func (s *solver) project(lambda float64) error {
	for i, norm := range s.norms() {
		s.root[i] = math.Sqrt(2 * math.Sqrt(norm*norm+epsilon))
	}
	return s.solve(lambda)
}

// solve finds W = (G + λD)⁻¹XᵀEBᵀ, which for the X as it is and λ·unit is W/√unit.
func (s *solver) solve(lambda float64) error {
	if err := s.ridge.Set(s.root, lambda*s.unit); err != nil {
		return fmt.Errorf("socfs: regression with lambda = %v: %w", lambda, err)
	}
	unit := math.Sqrt(s.unit)
	y := kernel.RowMajor(make([]float64, s.d*s.c), s.d, s.c, s.c)
	kernel.Gemm(s.team, unit, s.xe, s.b.Trans(), y)
	target := ridge.Target{XY: y.Data}
	if s.rows.Rows > 0 {
		ab := kernel.RowMajor(make([]float64, s.g.M*s.c), s.g.M, s.c, s.c)
		kernel.Gemm(s.team, 1, s.encode.a, s.b.Trans(), ab)
		target.Y = kernel.RowMajor(make([]float64, s.rows.Rows*s.c), s.rows.Rows, s.c, s.c)
		kernel.Gemm(s.team, 1, s.rows, ab, target.Y)
	}
	s.w.Data, _ = s.ridge.Solve(target, s.c)
	for i := range s.w.Data {
		s.w.Data[i] *= unit
	}
	return nil
}

func (s *solver) norms() []float64 {
	norms := make([]float64, s.d)
	for i := range norms {
		row := s.w.Data[i*s.c:][:s.c]
		norms[i] = math.Sqrt(kernel.Dot(row, row))
	}
	return norms
}

// objective is ‖XW − EBᵀ‖² + λΣ√(‖wᵢ‖² + ε) + γ‖SA − F‖², with ‖EBᵀ‖² = c.
func (s *solver) objective(lambda, gamma float64) float64 {
	wt, wg := make([]float64, s.c*s.d), make([]float64, s.c*s.d)
	kernel.Copy(kernel.RowMajor(wt, s.c, s.d, s.d), s.w.Trans())
	s.g.G.AddProduct(s.team.Threads(), s.c, wt, wg)
	wb := kernel.RowMajor(make([]float64, s.d*s.c), s.d, s.c, s.c)
	kernel.Gemm(s.team, 1, s.w, s.b, wb)
	value := float64(s.c) + kernel.Dot(wt, wg)/s.unit - 2*kernel.Dot(wb.Data, s.xe.Data)
	for _, norm := range s.norms() {
		value += lambda * math.Sqrt(norm*norm+epsilon)
	}
	return value + gamma*s.encode.negative()
}
