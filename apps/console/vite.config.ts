import { defineConfig } from "vite"

export default defineConfig({
  build: {
    target: "es2023",
    // The server's content security policy lets no inline script through, and no data: module either.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0
  }
})
