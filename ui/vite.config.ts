import { defineConfig } from 'vitest/config'

export default defineConfig({
  // Addresses are relative: a gateway may serve the page below a prefix.
  base: './',
  cacheDir: '../build/ui/vite',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    // The page's policy allows files of its own server only, and no data: in addresses.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  test: { include: ['src/**/*.test.ts'], watch: false },
})
