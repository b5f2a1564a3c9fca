/** Read by static/src/app.css through @config. Colours and sizes live there, as custom properties, because they change with the theme. */
module.exports = {
  content: ["./views/**/*.templ", "./views/**/*.go", "./static/app.js"],
};
