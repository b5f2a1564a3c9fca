package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sayso/internal/auth"
	"sayso/internal/interaction"
	"sayso/internal/store"
)

// The files beside the database. server.json is there while the server runs.
const (
	operatorKeyFile = "operator.key"
	agentKeyFile    = "agent.key"
	serverFileName  = "server.json"
)

// localKeys are for the commands on this machine.
type localKeys struct{ operator, agent string }

// ensureKeys makes the keys of this machine at the first start, and stores those that are there in a database that does not know them.
func ensureKeys(ctx context.Context, folder string, s *store.Store) (keys localKeys, err error) {
	project, err := s.Project(ctx, "default", "default")
	if err != nil {
		return keys, err
	}
	keys.operator, err = ensureKey(ctx, s, filepath.Join(folder, operatorKeyFile), interaction.OperatorPrincipal, "")
	if err != nil {
		return keys, err
	}
	keys.agent, err = ensureKey(ctx, s, filepath.Join(folder, agentKeyFile), interaction.AgentPrincipal, project.ID)
	return keys, err
}

func ensureKey(ctx context.Context, s *store.Store, path string, kind interaction.PrincipalKind, project interaction.ID) (string, error) {
	secret, err := readOrMakeKey(path, kind)
	if err != nil {
		return "", err
	}
	now := time.Now()
	key := auth.StoredKey(secret, strings.TrimSuffix(filepath.Base(path), ".key")+" key of this machine", interaction.NewID(interaction.KeyPrefix, now))
	key.Project = project
	return secret, s.ReplaceKey(ctx, key, now)
}

func readOrMakeKey(path string, kind interaction.PrincipalKind) (string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		secret := auth.NewSecret(kind)
		return secret, writeWhole(path, []byte(secret+"\n"))
	}
	if err := errors.Join(err, os.Chmod(path, 0o600)); err != nil {
		return "", fmt.Errorf("key file: %w", err)
	}
	secret := strings.TrimSpace(string(text))
	if found, ok := auth.KindOf(secret); !ok || found != kind {
		return "", fmt.Errorf("key file %s does not hold an %s; remove it, and a new one is made", path, strings.ReplaceAll(string(kind), "_", " "))
	}
	return secret, nil
}

// writeWhole writes a file so that it is there whole or not at all, for its owner's eyes only.
func writeWhole(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// serverFile tells commands on this machine where the server is.
type serverFile struct {
	URL       string `json:"url"`        // as this machine reaches it
	PublicURL string `json:"public_url"` // as people do
	PID       int    `json:"pid"`
	Version   string `json:"version"`
}

func writeServerFile(folder string, f serverFile) error {
	f.PID = os.Getpid()
	b, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return writeWhole(filepath.Join(folder, serverFileName), append(b, '\n'))
}

func readServerFile(folder string) (f serverFile, err error) {
	b, err := os.ReadFile(filepath.Join(folder, serverFileName))
	if err != nil {
		return f, err
	}
	return f, json.Unmarshal(b, &f)
}

// removeServerFile takes the file away. One that stays behind names a process that is gone, which commands notice.
func removeServerFile(folder string) { _ = os.Remove(filepath.Join(folder, serverFileName)) }
