package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
)

// didYouMean is the tail of an error about an unknown name, empty where no known
// name is near.
func didYouMean(name string, known []string) string {
	if s := chunkio.Suggest(name, known); s != "" {
		return "; did you mean " + s + "?"
	}
	return ""
}

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
