// Package forecasting implements ufs.Plan: it forecasts the passes, the memory and the time of a selection.
package forecasting
