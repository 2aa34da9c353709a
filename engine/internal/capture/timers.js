// Counts the page's timers that are about to fire, so that what comes a little
// later is waited for. It runs in the page's own world and is not relied on: a
// page that tampers with it is waited for longer or less long.
(() => {
  const open = new Set();
  const longest = 1000, deepest = 5;
  let depth = 0;
  const own = (f, at, done) => function (...args) {
    done();
    const before = depth;
    depth = at + 1;
    try { return f.apply(this, args); } finally { depth = before; }
  };
  const set = setTimeout, clear = clearTimeout;
  self.setTimeout = new Proxy(set, {
    apply(target, self, args) {
      const at = depth;
      if (typeof args[0] !== "function" || !(Number(args[1] || 0) <= longest) || at >= deepest) return Reflect.apply(target, self, args);
      let id;
      const f = own(args[0], at, () => open.delete(id));
      id = Reflect.apply(target, self, [f, ...args.slice(1)]);
      open.add(id);
      return id;
    },
  });
  self.clearTimeout = new Proxy(clear, {
    apply(target, self, args) {
      open.delete(args[0]);
      return Reflect.apply(target, self, args);
    },
  });
  Object.defineProperty(self, "KEY", { value: () => open.size });
})();
