// Command sayso is where AI agents wait for a person's approval: the server, and the commands that talk to it.
package main

import (
	"os"

	"sayso/internal/cli"
)

func main() {
	os.Exit(cli.Main())
}
