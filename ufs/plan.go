package ufs

import (
	"context"

	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/forecasting"
	"github.com/ufs-stream/ufs-stream/ufs/internal/scanning"
	"github.com/ufs-stream/ufs-stream/ufs/result"
)

type (
	// Budget is the plan of a run's memory, in bytes.
	Budget = budget.Budget
	// Passes is the least and the largest number of passes over the input, and the reason for them.
	Passes = result.Passes
	// Forecast describes the steps and cost of Select for a request.
	Forecast = forecasting.Forecast
	// Machines describes the machines for which Forecast.OnMachines estimates the duration of a job.
	Machines = result.Machines
	// MachinesPoint is the estimate of a job's duration on one number of machines.
	MachinesPoint = result.MachinesPoint
	// Rate is a number on which an estimate is based, such as the throughput of a disk.
	Rate = result.Rate
	// MachinesForecast is an estimate of the duration of a job of plan, scan, merge and select on many machines.
	MachinesForecast = result.MachinesForecast
	// Planned describes the contents of a new plan file.
	Planned = result.Planned
)

// Plan describes the steps and cost of Select, and reads nothing but footers. It returns the errors that Select would
// return before it reads more than footers.
func Plan(ctx context.Context, q Request) (*Forecast, error) {
	return forecasting.ForecastSelection(ctx, q)
}

// WritePlan writes the plan file q.Output, which fixes the work of a Scan: files with their sizes and versions, row
// groups, columns, and the options that shape statistics. It reads only footers. Many machines can then Scan the shards
// of the plan independently.
func WritePlan(ctx context.Context, q Request) (*Planned, error) {
	return scanning.WritePlan(ctx, q)
}
