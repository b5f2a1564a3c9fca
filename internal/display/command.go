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

// commandOf is what word names. Names are as on Unix, where case matters, but
// may be paths into a bin directory or have .exe at the end.
func commandOf(word string) command {
	if len(word) > 64 {
		return noCommand
	}
	if slash := strings.LastIndexByte(word, '/'); slash >= 0 {
		if !strings.HasSuffix(word[:slash], "bin") {
			return noCommand
		}
		word = word[slash+1:]
	}
	return named(strings.TrimSuffix(word, ".exe"))
}

func named(word string) command {
	switch word {
	case "sudo", "doas", "pkexec", "run0", "sudoedit", "sudo-rs", "gsudo":
		return rootCommand
	case "su":
		return suCommand
	case "rm", "grm":
		return removeCommand
	case "find", "gfind":
		return findCommand
	case "Remove-Item", "remove-item", "ri", "rd", "rmdir", "del", "erase":
		return powerRemoveCommand
	case "git", "hg", "jj":
		return gitCommand
	case "curl", "wget", "wget2", "fetch", "aria2c", "axel", "lwp-download",
		"iwr", "irm", "Invoke-WebRequest", "Invoke-RestMethod", "invoke-webrequest", "invoke-restmethod":
		return fetchCommand
	case ".DownloadString", ".downloadstring", ".DownloadData":
		return fetchMethod
	case "sh", "bash", "zsh", "dash", "ash", "ksh", "mksh", "fish", "csh", "tcsh", "rbash", "pwsh", "powershell", "cmd":
		return shellCommand
	case "python", "python2", "python3", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "osascript", "tclsh":
		return interpreterCommand
	case "eval", "source", ".", "iex", "IEX", "Invoke-Expression", "invoke-expression":
		return evaluateCommand
	case "env", "nohup", "exec", "time", "command", "builtin", "busybox", "xargs", "parallel", "timeout", "nice", "ionice",
		"setsid", "stdbuf", "chroot", "unshare", "nsenter", "ssh", "docker", "podman", "kubectl",
		"then", "do", "else", "if", "while", "until", "!":
		return wrapperCommand
	case "grep", "egrep", "fgrep", "rg", "ag", "ack", "man", "apropos", "whatis", "which", "whereis", "type",
		"apt", "apt-get", "dnf", "yum", "apk", "brew", "pacman", "zypper", "pip", "npm",
		"sed", "awk", "jq", "yq", "gh",
		"usermod", "gpasswd", "adduser", "deluser", "groupadd", "getent", "id", "groups":
		return readerCommand
	}
	return noCommand
}
