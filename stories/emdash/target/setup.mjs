// Gives a trial a database of its own: the golden copy, in which only the trial's
// token, TRIAL_TOKEN, is valid. Arguments: the build, the trial's folder, the address.
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

const [build, folder, address] = process.argv.slice(2);
const token = process.env.TRIAL_TOKEN;
copyFileSync(`${build}/golden/data.db`, `${folder}/data.db`);
mkdirSync(`${folder}/uploads`);

const hash = createHash("sha256").update(token).digest("base64url");
const db = new DatabaseSync(`${folder}/data.db`);
const { changes } = db.prepare("UPDATE _emdash_api_tokens SET token_hash = ?, prefix = ?").run(hash, token.slice(0, 11));
if (changes !== 1) throw new Error(`the golden database has ${changes} tokens, not one`);
db.prepare("UPDATE options SET value = ? WHERE name = 'emdash:site_url'").run(JSON.stringify(address));
db.close();
