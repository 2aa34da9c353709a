// Makes golden/data.db, the database that every trial gets a copy of. EmDash sets
// itself up in its development server alone: the seed, an administrator, a token.
import { spawn } from "node:child_process";
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const build = process.argv[2];
const port = await freePort();
const at = `http://127.0.0.1:${port}`;
for (const end of ["", "-wal", "-shm"]) rmSync(`${build}/data.db${end}`, { force: true });

const astro = ["node_modules/astro/bin/astro.mjs", "dev", "--host", "127.0.0.1", "--port", String(port)];
const dev = spawn(process.execPath, astro, { cwd: build, stdio: "inherit", env: { ...process.env, ASTRO_TELEMETRY_DISABLED: "1" } });
const ended = new Promise((done) => dev.once("exit", done));
try {
	await setUp();
} finally {
	dev.kill("SIGTERM");
	await ended;
}

// What is still in the write-ahead log goes into the one file that is kept.
const { DatabaseSync } = await import("node:sqlite");
const db = new DatabaseSync(`${build}/data.db`);
db.exec("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE; VACUUM");
const { n } = db.prepare("SELECT count(*) AS n FROM _emdash_api_tokens").get();
db.close();
if (n !== 1) throw new Error(`the database has ${n} tokens, not one`);
mkdirSync(`${build}/golden`, { recursive: true });
renameSync(`${build}/data.db`, `${build}/golden/data.db`);

async function setUp() {
	const headers = { Origin: at, "X-EmDash-Request": "1" };
	let last;
	for (const end = Date.now() + 300_000; Date.now() < end; await sleep(1000)) {
		if (dev.exitCode !== null) throw new Error(`the development server ended with code ${dev.exitCode}`);
		try {
			const answer = await fetch(`${at}/_emdash/api/setup/dev-bypass?token=1`, { method: "POST", headers });
			last = `${answer.status} ${await answer.text()}`;
			if (answer.ok) return;
		} catch (err) {
			last = String(err);
		}
	}
	throw new Error(`EmDash was not set up in five minutes: ${last}`);
}

function freePort() {
	return new Promise((done, fail) => {
		const server = createServer();
		server.once("error", fail);
		server.listen(0, "127.0.0.1", () => {
			const { port } = server.address();
			server.close(() => done(port));
		});
	});
}
