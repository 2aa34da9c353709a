import node from "@astrojs/node";
import react from "@astrojs/react";
import { defineConfig } from "astro/config";
import emdash, { local } from "emdash/astro";
import { libsql } from "emdash/db";

// Database and uploads are in the working folder of the process, which is a
// trial's own.
export default defineConfig({
	output: "server",
	adapter: node({ mode: "standalone" }),
	integrations: [
		react(), // EmDash's admin needs it
		emdash({
			database: libsql({ url: "file:./data.db" }),
			storage: local({ directory: "./uploads", baseUrl: "/_emdash/api/media/file" }),
		}),
	],
	devToolbar: { enabled: false },
});
