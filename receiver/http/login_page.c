#include "receiver/http/login_page.h"

const char login_page[] =
    "<!doctype html>\n"
    "<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Plumbline: log in</title>\n"
    "<script src=\"/login.js\" defer></script></head>\n"
    "<body><main><h1>Plumbline</h1>\n"
    "<form id=\"login\" method=\"post\"><p><label>Token <input id=\"token\" type=\"password\" required\n"
    "autocomplete=\"current-password\" size=\"60\"></label> <button>Log in</button></p></form>\n"
    "<p id=\"said\" role=\"alert\"></p></main></body></html>\n";

/* The token goes once, in a header; the cookie that comes back cannot be read by script. */
const char login_script[] =
    "const said = document.getElementById('said');\n"
    "document.getElementById('login').addEventListener('submit', async (event) => {\n"
    "  event.preventDefault();\n"
    "  const token = document.getElementById('token').value.trim();\n"
    "  try {\n"
    "    const answer = await fetch('/login', { method: 'POST', headers: { Authorization: 'Bearer ' + token } });\n"
    "    if (answer.ok) location.reload();\n"
    "    else said.textContent = (await answer.json()).error;\n"
    "  } catch (error) {\n"
    "    said.textContent = String(error);\n"
    "  }\n"
    "});\n";
