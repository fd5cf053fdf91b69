package main

import (
	"os"
	"strings"
	"testing"
)

func TestProf(t *testing.T) { must(t, strings.Fields(os.Getenv("PROF"))...) }
