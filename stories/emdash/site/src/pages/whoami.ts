import type { APIRoute } from "astro";

export const prerender = false;

// Proof that this process is the one that a trial started.
export const GET: APIRoute = () => new Response(process.env.TRIAL_NONCE ?? "");
