import { defaultClientConditions, defineConfig } from "vite"

export default defineConfig({
  // Reads the sources of our own packages, so that the console needs no build of theirs.
  resolve: { conditions: ["@haft/source", ...defaultClientConditions] },
  build: {
    target: "es2023",
    // The server's content security policy lets no inline script through, and no data: module either.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0
  }
})
