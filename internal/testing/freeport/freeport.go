// Package freeport finds a port of this machine for a server that a test starts.
package freeport

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// FindPort returns a free port of 127.0.0.1, below 32768. Systems assign higher ports to outgoing connections. Such a
// connection could take a higher port before the server listens on it, or while the server is stopped.
func FindPort(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := 10_000 + rand.IntN(20_000)
		l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			must.Do(t, l.Close())
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}
