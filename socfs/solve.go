package socfs

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/linalg"
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
	team    *kernel.Team
	g       *anchor.Graph
	d, c    int
	unit    float64 // Tr(G)/d
	encode  *encoding
	b       kernel.Matrix[float64] // B, c×c
	w       kernel.Matrix[float64] // W, d×c
	xe      kernel.Matrix[float64] // XᵀE = CᵀA, d×c
	weights []float64              // D
	a       []float64              // G + λD, d×d; nil until needed
	chol    *linalg.Cholesky
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
	for i := range s.weights {
		s.weights[i] = 0.5
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
		s.weights[i] = 0.5 / math.Sqrt(norm*norm+epsilon)
	}
	return s.solve(lambda)
}

// solve finds W = (G + λD)⁻¹XᵀEBᵀ.
func (s *solver) solve(lambda float64) error {
	d := s.d
	if s.a == nil {
		s.a = make([]float64, d*d)
	}
	for i, v := range s.g.G.Sym {
		s.a[i] = v / s.unit
	}
	for i, q := range s.weights {
		s.a[i*d+i] += lambda * q
	}
	if err := s.chol.Factor(s.team, kernel.RowMajor(s.a, d, d, d)); err != nil {
		return fmt.Errorf("socfs: regression with lambda = %v: %w", lambda, err)
	}
	clear(s.w.Data)
	kernel.Gemm(s.team, 1, s.xe, s.b.Trans(), s.w)
	s.chol.SolveTo(s.team, s.w, s.w)
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
	gw := kernel.RowMajor(make([]float64, s.d*s.c), s.d, s.c, s.c)
	kernel.Gemm(s.team, 1/s.unit, kernel.RowMajor(s.g.G.Sym, s.d, s.d, s.d), s.w, gw)
	wb := kernel.RowMajor(make([]float64, s.d*s.c), s.d, s.c, s.c)
	kernel.Gemm(s.team, 1, s.w, s.b, wb)
	value := float64(s.c) + kernel.Dot(s.w.Data, gw.Data) - 2*kernel.Dot(wb.Data, s.xe.Data)
	for _, norm := range s.norms() {
		value += lambda * math.Sqrt(norm*norm+epsilon)
	}
	return value + gamma*s.encode.negative()
}
