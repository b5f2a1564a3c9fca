// The program reference prints docs/cli.md, the manual of the command line; `make generate` runs it.
package main

import (
	"fmt"

	"sayso/internal/cli"
)

func main() { fmt.Print(cli.Reference()) }
