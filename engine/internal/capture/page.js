// What the engine does inside a page, in a world of its own: the page's scripts
// can neither see nor change it. Properties are read through the prototypes'
// getters, for a form's fields may bear their names.
(() => {
  if (globalThis.evalengine) return;

  const getter = (proto, name) => {
    const get = Object.getOwnPropertyDescriptor(proto, name).get;
    return (o) => get.call(o);
  };
  const kids = getter(Node.prototype, "childNodes");
  const kind = getter(Node.prototype, "nodeType");
  const attributes = getter(Element.prototype, "attributes");
  const local = getter(Element.prototype, "localName");
  const openRoot = getter(Element.prototype, "shadowRoot");
  const namespace = getter(Element.prototype, "namespaceURI");
  const frameDocument = getter(HTMLIFrameElement.prototype, "contentDocument");
  const rootElement = getter(Document.prototype, "documentElement");
  const bodyElement = getter(Document.prototype, "body");
  const titleOf = getter(Document.prototype, "title");
  const queryAll = (root, selector) => {
    const proto = kind(root) === 9 ? Document.prototype : DocumentFragment.prototype;
    return proto.querySelectorAll.call(root, selector);
  };
  const xhtml = "http://www.w3.org/1999/xhtml";
  // Elements of a frame are no instances of this window's classes.
  const is = (el, tag) => local(el) === tag && namespace(el) === xhtml;
  const tick = () => new Promise((done) => { requestAnimationFrame(() => done()); setTimeout(done, 100); });
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));

  // Closed roots are handed in by the engine.
  const closed = new WeakMap();
  const rootOf = (el) => openRoot(el) || closed.get(el) || null;

  // A page of very many elements is searched for roots as far as this.
  const maxSearched = 200000;

  // scopes lists the documents and shadow roots that are part of the page.
  function scopes() {
    const list = [];
    let left = maxSearched;
    const visit = (scope) => {
      list.push(scope);
      for (const el of queryAll(scope, "*")) {
        if (left-- < 0) return;
        const root = rootOf(el);
        if (root) visit(root);
        if (is(el, "iframe")) {
          let inner = null;
          try { inner = frameDocument(el); } catch {}
          if (inner && rootElement(inner)) visit(inner);
        }
      }
    };
    visit(document);
    return list;
  }

  function name(el) {
    let s = local(el);
    const id = el.getAttribute("id"), cls = el.getAttribute("class");
    if (id) s += "#" + id;
    else if (cls) s += "." + cls.trim().split(/\s+/).slice(0, 3).join(".");
    return s.slice(0, 120);
  }

  // dress gives every scope the engine's style sheet: no caret, smooth scrolling
  // off, and what the suite hides hidden.
  const dressed = new WeakMap();
  function dress(list, hide) {
    let css = "*, ::before, ::after { caret-color: transparent !important; scroll-behavior: auto !important }";
    for (const selector of hide) css += "\n" + selector + " { display: none !important }";
    for (const scope of list) {
      if (dressed.get(scope) === css) continue;
      try {
        const view = (scope.ownerDocument || scope).defaultView;
        const sheet = new view.CSSStyleSheet();
        sheet.replaceSync(css);
        scope.adoptedStyleSheets = [...scope.adoptedStyleSheets, sheet];
        dressed.set(scope, css);
      } catch {}
    }
  }

  // freeze ends what ends and stops what does not.
  function freeze(list) {
    let changed = 0;
    for (const scope of list) {
      if (!(kind(scope) === 9)) continue;
      for (const a of scope.getAnimations()) {
        if (a.playState === "finished" || a.playState === "idle") continue;
        let finite = false;
        try { finite = Number.isFinite(a.effect.getComputedTiming().endTime); } catch {}
        const driven = a.timeline && a.timeline.constructor.name !== "DocumentTimeline";
        if (driven) continue;
        changed++;
        try { finite && a.playbackRate !== 0 ? a.finish() : a.cancel(); } catch { try { a.cancel(); } catch {} }
      }
    }
    for (const scope of list) {
      for (const m of queryAll(scope, "video, audio")) {
        try {
          if (!m.paused) { m.pause(); changed++; }
          if (!m.srcObject && m.readyState > 0 && m.currentTime !== 0 && m.seekable.length > 0) { m.currentTime = 0; changed++; }
        } catch {}
      }
      for (const m of queryAll(scope, "svg")) { try { m.pauseAnimations(); m.setCurrentTime(0); } catch {} }
      for (const m of queryAll(scope, "marquee")) { try { m.stop(); } catch {} }
    }
    return changed;
  }

  const maxImages = 5000;

  // wake starts what waits until it comes into view.
  function wake(list) {
    for (const scope of list) {
      for (const el of queryAll(scope, "img[loading=lazy], iframe[loading=lazy]")) el.setAttribute("loading", "eager");
    }
  }

  function height() {
    const root = rootElement(document), body = bodyElement(document);
    return Math.max(root ? root.scrollHeight : 0, body && document.compatMode === "BackCompat" ? body.scrollHeight : 0);
  }

  // scrollThrough shows every part of the page once, and says how high it is and
  // whether it grew on the way.
  async function scrollThrough(max, maxGrown, ms) {
    const end = performance.now() + ms;
    const first = height();
    // Without a script nothing waits to be seen.
    if (!scopes().some((s) => queryAll(s, "script").length > 0)) return { height: first, first, cut: "" };
    const step = Math.max(100, innerHeight);
    let y = 0, cut = "";
    while (true) {
      const h = height();
      if (y + innerHeight >= h) break;
      if (y + innerHeight >= (h > first ? Math.max(first, maxGrown) : max)) { cut = h > first ? "grows" : "high"; break; }
      if (performance.now() > end) { cut = "slow"; break; }
      y += step;
      scrollTo({ top: y, behavior: "instant" });
      await tick();
    }
    scrollTo({ top: 0, left: 0, behavior: "instant" });
    await tick();
    return { height: height(), first, cut };
  }

  // rest waits until fonts and images are there and nothing moves, or says what is
  // not.
  async function rest(hide, ms) {
    const end = performance.now() + ms;
    let open = [];
    while (true) {
      const list = scopes();
      dress(list, hide);
      wake(list);
      const moved = freeze(list);
      open = [];
      for (const scope of list) {
        if (kind(scope) === 9 && scope.fonts && scope.fonts.status !== "loaded") open.push("fonts are loading");
      }
      let seen = 0;
      const decoding = [];
      for (const scope of list) {
        for (const img of queryAll(scope, "img")) {
          if (seen++ > maxImages) break;
          if (!img.complete) open.push("image is loading: " + (img.currentSrc || img.src || name(img)).slice(0, 200));
          else if (img.naturalWidth > 0 && !decoded.has(img)) decoding.push(img);
        }
        for (const v of queryAll(scope, "video")) if (v.seeking) open.push("video is seeking: " + name(v));
      }
      if (decoding.length) {
        const all = Promise.all(decoding.map((img) => img.decode().then(() => decoded.add(img), () => decoded.add(img))));
        await Promise.race([all, pause(Math.max(0, end - performance.now()))]);
      }
      if (!open.length && !moved) break;
      if (performance.now() > end) break;
      await (open.length ? pause(20) : tick());
    }
    return { open: open.slice(0, 20), height: height(), width: innerWidth };
  }
  const decoded = new WeakSet();

  // covered says what lies over the page: a layer that stays when it scrolls and
  // hides a good part of the first screen.
  function covered() {
    const seen = new Map();
    const across = 8, down = 8;
    for (let i = 0; i < across; i++) {
      for (let j = 0; j < down; j++) {
        let el = document.elementFromPoint(((i + 0.5) * innerWidth) / across, ((j + 0.5) * innerHeight) / down);
        let layer = null;
        for (; el; el = el.parentElement || (el.getRootNode() && el.getRootNode().host)) {
          const pos = getComputedStyle(el).position;
          if (pos === "fixed" || (is(el, "dialog") && el.open)) layer = el;
        }
        if (layer) seen.set(layer, (seen.get(layer) || 0) + 1);
      }
    }
    const out = [];
    for (const [el, n] of seen) {
      const share = Math.round((100 * n) / (across * down));
      const text = (el.innerText || "").trim().replace(/\s+/g, " ");
      const consent = /cookie|consent|gdpr|privacy|datenschutz|einwillig|confidentialit/i.test(text);
      if (share < (consent ? 5 : 50)) continue;
      out.push({ name: name(el), share, consent, text: text.slice(0, 120) });
    }
    return out.slice(0, 5);
  }

  function at(x, y) {
    scrollTo({ top: Math.max(0, y - innerHeight / 2), behavior: "instant" });
    const el = document.elementFromPoint(x, y - scrollY);
    scrollTo({ top: 0, behavior: "instant" });
    return el ? name(el) : "";
  }

  const voids = new Set(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]);
  const never = new Set(["template", "noscript", "noembed", "noframes", "datalist", "rp"]);
  const shown = new Set(["area", "link", "meta", "source", "track", "param", "script"]); // without a box of their own
  const fallback = new Set(["canvas", "video", "audio", "object", "iframe", "script", "style"]);

  // html writes the flattened tree.
  function html(maxChars, ms) {
    const end = performance.now() + ms;
    const out = [];
    let size = 0, cut = "", hidden = 0, steps = 0;
    const put = (s) => { size += s.length; out.push(s); };
    const esc = (s) => s.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
    const quote = (s) => s.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;");
    const stop = () => {
      if (cut) return true;
      if (size > maxChars) cut = "size";
      else if ((steps++ & 1023) === 0 && performance.now() > end) cut = "time";
      return cut !== "";
    };

    const children = (el) => {
      if (is(el, "slot") && kind(el.getRootNode()) === 11) {
        const assigned = el.assignedNodes();
        return assigned.length ? assigned : kids(el);
      }
      const root = rootOf(el);
      return root ? kids(root) : kids(el);
    };

    function tag(el, as) {
      let s = "<" + as;
      const values = new Map();
      for (const a of attributes(el)) values.set(a.name, a.value);
      if (is(el, "input") && el.type !== "password" && el.type !== "file") {
        if (el.type === "checkbox" || el.type === "radio") el.checked ? values.set("checked", "") : values.delete("checked");
        else if (el.value) values.set("value", el.value);
        else values.delete("value");
      }
      if (is(el, "option")) el.selected ? values.set("selected", "") : values.delete("selected");
      values.delete("nonce");
      for (const [k, v] of values) s += " " + k + '="' + quote(v.length > 65536 ? v.slice(0, 65536) : v) + '"';
      put(s + ">");
    }

    // visible is whether the parent's text can be seen; depth bounds the recursion.
    function write(node, visible, depth, head) {
      if (stop()) return;
      const type = kind(node);
      if (type === 3 || type === 4) {
        if (visible || head) put(esc(node.data));
        return;
      }
      if (type !== 1) return;
      const el = node, of = local(el), foreign = namespace(el) !== xhtml;
      if (never.has(of) && !foreign) return;
      if (head) {
        if (!["title", "meta", "link", "base", "script"].includes(of)) return;
        tag(el, of);
        if (of === "title") put(esc(el.textContent.slice(0, 65536)));
        if (!voids.has(of)) put("</" + of + ">");
        return;
      }
      if (of === "style") return;
      const style = getComputedStyle(el);
      if (style.display === "none" && !shown.has(of)) { hidden++; return; }
      if (is(el, "input") && el.type === "hidden") return;
      const seen = shown.has(of) || style.visibility === "visible";
      if (depth > 1500) { cut = "depth"; return; }
      if (of === "slot" && !foreign) {
        for (const c of children(el)) write(c, seen, depth + 1, false);
        return;
      }
      const mark = out.length, before = size;
      const as = !foreign && (of === "plaintext" || of === "xmp" || of === "listing") ? "pre" : foreign ? el.tagName : of;
      tag(el, as);
      const inside = out.length;
      if (voids.has(of) && !foreign) {
        if (!seen) { out.length = mark; size = before; hidden++; }
        return;
      }
      if (of === "textarea" && !foreign) put(esc("\n" + el.value));
      else if (fallback.has(of) && !foreign) {
        for (const c of kids(el)) if (kind(c) === 1 && (local(c) === "source" || local(c) === "track")) write(c, true, depth + 1, false);
      } else if (style.contentVisibility !== "hidden") {
        const shut = is(el, "details") && !el.open;
        let summary = false;
        for (const c of children(el)) {
          if (shut) {
            if (summary || kind(c) !== 1 || local(c) !== "summary") { if (kind(c) === 1) hidden++; continue; }
            summary = true;
          }
          write(c, seen, depth + 1, false);
          if (cut) break;
        }
      }
      if (!seen && out.length === inside) { out.length = mark; size = before; hidden++; return; }
      put("</" + as + ">");
      if (is(el, "iframe") && seen) frame(el, depth);
    }

    // A parser takes what is inside an iframe for text, so its document follows it.
    function frame(el, depth) {
      let inner = null;
      try { inner = frameDocument(el); } catch {}
      const body = inner && bodyElement(inner);
      if (!body) return;
      put('<eval-frame data-src="' + quote(String(inner.URL).slice(0, 2000)) + '">');
      if (local(body) === "body") for (const c of children(body)) write(c, getComputedStyle(body).visibility === "visible", depth + 1, false);
      put("</eval-frame>");
    }

    const root = rootElement(document);
    if (document.doctype) put("<!DOCTYPE " + document.doctype.name + ">");
    if (root && namespace(root) === xhtml) {
      tag(root, "html");
      for (const c of kids(root)) {
        if (kind(c) !== 1) continue;
        if (local(c) === "head") {
          tag(c, "head");
          for (const h of kids(c)) if (kind(h) === 1) write(h, true, 1, true);
          put("</head>");
        } else write(c, true, 1, false);
      }
      put("</html>");
    } else if (root) write(root, true, 1, false);
    return { html: out.join(""), cut, hidden };
  }

  globalThis.evalengine = {
    rest, scrollThrough, covered, at, html, height,
    adopt: (roots) => { for (const r of roots) if (r && r.host) closed.set(r.host, r); },
    facts: () => ({ title: titleOf(document).slice(0, 1000), url: location.href, elements: queryAll(document, "*").length,
    }),
    says: (text) => {
      const plain = (s) => s.replace(/\s+/g, " ").trim();
      const body = bodyElement(document);
      if (body && plain(body.innerText || "").includes(plain(text))) return true;
      const all = html(4 << 20, 2000).html.replace(/<[^>]*>/g, " ").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");
      return plain(all).includes(plain(text));
    },
    has: (selector) => scopes().some((s) => queryAll(s, selector).length > 0),
    badSelector: (list) => list.filter((s) => { try { document.createDocumentFragment().querySelector(s); return false; } catch { return true; } }),
  };
})();
