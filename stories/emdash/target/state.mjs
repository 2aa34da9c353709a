// Prints the site's state as JSON, read through EmDash's own MCP server: of every
// entry what editors see (draft) and what visitors see (live, null where nothing
// is). Neither ids nor times are in it. Argument: the site's address.
const [address] = process.argv.slice(2);
const token = process.env.TRIAL_TOKEN;
let calls = 0;

const collections = [];
for (const { slug } of (await call("schema_list_collections")).items) {
	const schema = await call("schema_get_collection", { slug });
	collections.push({
		slug,
		label: schema.label,
		fields: schema.fields.map(({ slug, type, required }) => ({ slug, type, required })),
		entries: await entries(slug),
	});
}
const menus = [];
for (const { name } of await call("menu_list")) {
	const menu = await call("menu_get", { name });
	menus.push({ name, items: menu.items.map((item) => ({ label: item.label, url: item.customUrl })) });
}
const { title, tagline } = await call("settings_get");
console.log(JSON.stringify({ title, tagline, menus: sorted(menus, "name"), collections: sorted(collections, "slug") }));

async function entries(collection) {
	const list = [];
	let cursor;
	do {
		const page = await call("content_list", { collection, limit: 100, ...(cursor && { cursor }) });
		for (const { id } of page.items) {
			const { item } = await call("content_get", { collection, id });
			const live = item.status === "published" ? (item.liveData ?? item.data) : null;
			list.push({ slug: item.slug, status: item.status, draft: item.data, live });
		}
		cursor = page.nextCursor;
	} while (cursor);
	return sorted(list, "slug");
}

function sorted(list, key) {
	return list.sort((a, b) => (String(a[key]) < String(b[key]) ? -1 : 1));
}

async function call(name, args = {}) {
	const answer = await fetch(`${address}/_emdash/api/mcp`, {
		method: "POST",
		headers: {
			Authorization: `Bearer ${token}`,
			"Content-Type": "application/json",
			Accept: "application/json, text/event-stream",
		},
		body: JSON.stringify({ jsonrpc: "2.0", id: ++calls, method: "tools/call", params: { name, arguments: args } }),
	});
	const body = await answer.text();
	if (!answer.ok) throw new Error(`${name}: ${answer.status} ${body}`);
	// One event, or the bare message.
	const message = JSON.parse(body.startsWith("{") ? body : body.match(/^data: (.*)$/m)[1]);
	const text = message.result?.content?.[0]?.text;
	if (message.error || message.result.isError) throw new Error(`${name}: ${text ?? message.error.message}`);
	return JSON.parse(text);
}
