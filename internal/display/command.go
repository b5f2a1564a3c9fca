package display

import "strings"

// command is what a word of a command line names, as far as chips care.
type command uint8

const (
	noCommand   command = iota
	rootCommand         // runs another as root
	suCommand           // does so given an option
	removeCommand
	findCommand
	powerRemoveCommand // PowerShell's
	gitCommand
	fetchCommand       // downloads
	fetchMethod        // downloads, as a method with its argument in parentheses
	shellCommand       // runs what it reads
	interpreterCommand // runs what it reads, unless it is given a script
	evaluateCommand    // runs its arguments
	wrapperCommand     // runs another command
	readerCommand      // takes the names of commands as data
)

// commandNames are the words that name commands of interest.
var commandNames = map[command]string{
	rootCommand:        "sudo doas pkexec run0 sudoedit sudo-rs gsudo",
	suCommand:          "su",
	removeCommand:      "rm grm",
	findCommand:        "find gfind",
	powerRemoveCommand: "Remove-Item remove-item ri rd rmdir del erase",
	gitCommand:         "git hg jj",
	fetchCommand: "curl wget wget2 fetch aria2c axel lwp-download iwr irm Invoke-WebRequest Invoke-RestMethod " +
		"invoke-webrequest invoke-restmethod",
	fetchMethod:        ".DownloadString .downloadstring .DownloadData",
	shellCommand:       "sh bash zsh dash ash ksh mksh fish csh tcsh rbash pwsh powershell cmd",
	interpreterCommand: "python python2 python3 perl ruby node nodejs deno bun php lua osascript tclsh",
	evaluateCommand:    "eval source . iex IEX Invoke-Expression invoke-expression",
	wrapperCommand: "env nohup exec time command builtin busybox xargs parallel timeout nice ionice setsid " +
		"stdbuf chroot unshare nsenter ssh docker podman kubectl then do else if while until !",
	readerCommand: "grep egrep fgrep rg ag ack man apropos whatis which whereis type apt apt-get dnf yum apk " +
		"brew pacman zypper pip npm sed awk jq yq gh usermod gpasswd adduser deluser groupadd " +
		"getent id groups",
}

// named is commandNames by name, and commandSizes which lengths names have, by
// their first byte.
var (
	named        lexicon[command]
	commandSizes [256]uint32
)

func init() {
	for c, names := range commandNames {
		for _, name := range strings.Fields(names) {
			named.add(name, c)
			commandSizes[name[0]] |= 1 << len(name)
		}
	}
}

// mayBeCommand reports whether it is worthwhile to ask commandOf. It is asked
// for each word of a text.
func mayBeCommand(word string) bool {
	return commandSizes[word[0]]>>min(len(word), 31)&1 != 0 || word[0] == '/' || word[0] == '.' ||
		len(word) > 4 && word[len(word)-4] == '.'
}

// commandOf is what word names. Names are as on Unix, where case matters, but
// may be paths into a bin directory or have .exe at the end.
func commandOf(word string) command {
	if slash := strings.LastIndexByte(word, '/'); slash >= 0 {
		if !strings.HasSuffix(word[:slash], "bin") {
			return noCommand
		}
		word = word[slash+1:]
	}
	word = strings.TrimSuffix(word, ".exe")
	if word == "" {
		return noCommand
	}
	return named.find(word)
}
