package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/internal/program"
)

// These stand for the functions of package program in the files that call them so.
func didYouMean(name string, known []string) string  { return program.DidYouMean(name, known) }
func atLeastOne(what string) cobra.PositionalArgs    { return program.AtLeastOne(what) }
func noArgs(cmd *cobra.Command, args []string) error { return program.NoArgs(cmd, args) }
func usageLine(cmd *cobra.Command) string            { return program.UsageLine(cmd) }

// choice is a flag with a fixed set of values.
type choice struct {
	value   string
	allowed []string
}

func newChoice(def string, allowed ...string) choice { return choice{def, allowed} }

// String, Set and Type implement pflag.Value.
func (c *choice) String() string { return c.value }

func (c *choice) Set(s string) error {
	if !slices.Contains(c.allowed, s) {
		return fmt.Errorf("want %s%s", strings.Join(c.allowed, ", "), didYouMean(s, c.allowed))
	}
	c.value = s
	return nil
}

func (c *choice) Type() string { return "name" }
