// Command outside is a program outside the module: it selects from the files it is given,
// by a method of its own and by one of the library's, from the public API alone.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"example.com/outside/spread"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/ufs"
)

func main() {
	all := append(methods.All(), spread.Specs()...)
	for _, q := range []ufs.Request{
		{Choice: ufs.Choice{Method: "spread", K: 3, Options: method.Settings{"narrowest": true}, Methods: all}},
		{Choice: ufs.Choice{K: 3, Methods: all}},
	} {
		q.Input.Paths = os.Args[1:]
		s, err := ufs.Select(context.Background(), q)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(s.Method)
		for _, f := range s.Selected {
			fmt.Print(" ", f.Name)
		}
		fmt.Println()
	}
}
