package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// formVersion is that of the tables and of what stands in them. An index of an
// earlier one is made anew; one of a later one is left to the evalengine that made
// it.
const formVersion = 2

// tables hold one row a run and one a trial. A trial's stamp says which files it was
// read from; a run's turn counts its changes, and its trend is of the turn beside
// it. Definitions are the same for all repeats of a story, and kept once.
const tables = `
CREATE TABLE runs (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  stamp TEXT NOT NULL,
  info BLOB NOT NULL,
  turn INTEGER NOT NULL DEFAULT 0,
  trend_turn INTEGER,
  trend BLOB
);
CREATE TABLE trials (
  run INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  id TEXT NOT NULL,
  stamp TEXT NOT NULL,
  problem TEXT NOT NULL DEFAULT '',
  missing TEXT NOT NULL DEFAULT '',
  definitions INTEGER NOT NULL DEFAULT 0,
  sum INTEGER NOT NULL DEFAULT 0,
  record BLOB,
  UNIQUE (run, seq, id)
);
CREATE TABLE definitions (n INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
`

// open opens the file, making or mending it as needed. The caller has the lock.
func (ix *Index) open(ctx context.Context) error {
	err := ix.connect(ctx)
	if err == nil || !broken(err) && !errors.Is(err, errOlder) {
		return err
	}
	if err := ix.remove(); err != nil {
		return err
	}
	return ix.connect(ctx)
}

var errOlder = errors.New("the index is of an earlier form")

func (ix *Index) connect(ctx context.Context) error {
	// SQLite would let everybody read what it makes.
	f, err := os.OpenFile(ix.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	f.Close()
	q := url.Values{"_pragma": {"busy_timeout(2000)", "journal_mode(TRUNCATE)", "synchronous(FULL)"}, "_txlock": {"immediate"}}
	name := url.URL{Scheme: "file", Path: ix.path, RawQuery: q.Encode()}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return err
	}
	// One connection: what one call reads, another writes after it.
	db.SetMaxOpenConns(1)
	if err := prepare(ctx, db); err != nil {
		db.Close()
		return err
	}
	ix.db, ix.why = db, nil
	return nil
}

// prepare makes the tables of a new file and looks at those of an old one.
func prepare(ctx context.Context, db *sql.DB) error {
	var form, found int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&form); err != nil {
		return err
	}
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&found); err != nil {
		return err
	}
	switch {
	case form == formVersion:
		return probe(ctx, db)
	case form > formVersion:
		return fmt.Errorf("%s is of form %d; this evalengine knows %d", fileName, form, formVersion)
	case found > 0:
		return errOlder
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, tables); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", formVersion)); err != nil {
		return err
	}
	return tx.Commit()
}

// probe finds a file that says it is of this form and is not.
func probe(ctx context.Context, db *sql.DB) error {
	for _, q := range []string{
		"SELECT n, id, stamp, info, turn, trend_turn, trend FROM runs LIMIT 1",
		"SELECT run, seq, id, stamp, problem, missing, definitions, sum, record FROM trials LIMIT 1",
		"SELECT n, text FROM definitions LIMIT 1",
	} {
		rows, err := db.QueryContext(ctx, q)
		if err != nil {
			if damagedFile(err) || ctx.Err() != nil || busy(err) {
				return err
			}
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
		rows.Next()
		err = rows.Err()
		rows.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// damagedFile reports whether SQLite says that the file is no database of its own.
func damagedFile(err error) bool {
	c := code(err)
	return c == sqlite3.SQLITE_CORRUPT || c == sqlite3.SQLITE_NOTADB
}

func busy(err error) bool {
	c := code(err)
	return c == sqlite3.SQLITE_BUSY || c == sqlite3.SQLITE_LOCKED
}

// code is SQLite's primary result code in err; 0 where there is none.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}
