// Package settings contains the options of a Dataset, with their defaults and their checks.
package settings
